import { AppError, fieldError } from '../../server/src/kit/app-error.ts';
import { closedPage, notConnectedPage } from '../../server/src/pages/collect/collect-page.ts';
import type { CollectPlaces, Place } from '../../server/src/pages/collect/places.ts';

const longName =
  'The Very Long Established Kairaba Avenue Wholesale Stationery, Books and School Uniforms Company Limited';

function place(scene: Partial<Place['scene']>, changes: Partial<Place> = {}): Place {
  return {
    scene: {
      merchantName: 'Kairaba Bookshop',
      testMode: true,
      path: '/link/open',
      kind: 'link',
      heading: 'School fees, second term',
      description: null,
      amountMinor: null,
      minAmountMinor: null,
      customFields: [],
      ...scene,
    },
    closed: null,
    unconfirmed: false,
    pay: ({ amountMinor }) => pay(amountMinor),
    ...changes,
  };
}

async function pay(amountMinor: bigint): Promise<string> {
  if (amountMinor < 10_000n)
    throw fieldError('amount_out_of_bounds', 'amount', 'The shop asks for at least D100.00 here.');
  if (amountMinor > 100_000_000n) throw new AppError('state_conflict', 'This counter takes no payments at the moment.');
  return '/pay/choose';
}

const closed = {
  title: 'This link is not active',
  text: 'it cannot be paid at the moment. Nothing was paid here. Ask the shop whether it will open again.',
  merchantName: 'Kairaba Bookshop',
  icon: 'clock',
} as const;

/** Every state of the pages behind links and counters, by the end of its address. */
export const linkScenes: Record<string, Place> = {
  open: place({ minAmountMinor: 10_000n, description: 'Say whose fees they are, so that we can find your child.' }),
  fixed: place({ path: '/link/fixed', amountMinor: 250_000n, heading: 'Gala ticket' }),
  fields: place({
    path: '/link/fields',
    amountMinor: 45_000n,
    heading: 'Uniform',
    customFields: ['Child’s name', 'Class', 'Size'],
  }),
  long: place({ path: '/link/long', merchantName: longName, heading: longName, description: longName.repeat(3) }),
  closed: place({ path: '/link/closed' }, { closed: closedPage(closed) }),
  'not-connected': place({ path: '/link/not-connected' }, { closed: notConnectedPage('Kairaba Bookshop') }),
  'not-connected-long': place({ path: '/link/not-connected-long' }, { closed: notConnectedPage(longName) }),
};

export const counterScenes: Record<string, Place> = {
  '1234567-7KQ2': place({ kind: 'counter', heading: 'Main counter', path: '/pos/1234567-7KQ2' }),
  '1234567': place({ kind: 'counter', heading: 'Main counter', path: '/pos/1234567' }, { unconfirmed: true }),
};

export const scenePlaces: CollectPlaces = {
  findLink: (token) => Promise.resolve(linkScenes[token]),
  findCounter: (address) => Promise.resolve(counterScenes[address.toUpperCase()]),
};
