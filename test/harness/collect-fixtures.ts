import { AppError, fieldError } from '../../server/src/api/app-error.ts';

import type { CollectTargets, CollectTarget } from '../../server/src/pages/collect/collect-targets.ts';
import { readTerminalAddress } from '../../server/src/terminals/terminal-address.ts';

const longName =
  'The Very Long Established Kairaba Avenue Wholesale Stationery, Books and School Uniforms Company Limited';

function collectPage(model: Partial<CollectTarget['model']>, changes: Partial<CollectTarget> = {}): CollectTarget {
  return {
    model: {
      merchantName: 'Kairaba Bookshop',
      testMode: true,
      path: '/link/open',
      kind: 'link',
      heading: 'School fees, second term',
      description: null,
      amountMinor: null,
      feeMinor: 0n,
      minAmountMinor: null,
      bounds: { minMinor: model.minAmountMinor ?? 1_000n, maxMinor: 100_000_000n },
      customFields: [],
      ...model,
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

/** Every state of the pages of links and counters, by the end of its address. */
export const linkFixtures: Record<string, CollectTarget> = {
  open: collectPage({
    minAmountMinor: 10_000n,
    description: 'Say whose fees they are, so that we can find your child.',
  }),
  fixed: collectPage({ path: '/link/fixed', amountMinor: 250_000n, heading: 'Gala ticket' }),
  fee: collectPage({ path: '/link/fee', amountMinor: 10_000n, feeMinor: 200n, heading: 'Gala ticket' }),
  fields: collectPage({
    path: '/link/fields',
    amountMinor: 45_000n,
    heading: 'Uniform',
    customFields: ['Child’s name', 'Class', 'Size'],
  }),
  long: collectPage({ path: '/link/long', merchantName: longName, heading: longName, description: longName.repeat(3) }),
  inactive: collectPage({ path: '/link/inactive' }, { closed: 'link-inactive' }),
  deleted: collectPage({ path: '/link/deleted' }, { closed: 'link-deleted' }),
  'not-connected': collectPage({ path: '/link/not-connected' }, { closed: 'not-connected' }),
  'not-connected-long': collectPage(
    { path: '/link/not-connected-long', merchantName: longName },
    { closed: 'not-connected' },
  ),
};

export const counterFixtures: Record<string, CollectTarget> = {
  '1234567-7KQ2': collectPage({ kind: 'counter', heading: 'Main counter', path: '/pos/1234567-7KQ2' }),
  '1234567': collectPage({ kind: 'counter', heading: 'Main counter', path: '/pos/1234567' }, { unconfirmed: true }),
};

export const collectFixtures: CollectTargets = {
  findLink: (token) => Promise.resolve(linkFixtures[token]),
  findCounter: (text) => {
    const { code = '', check = null } = readTerminalAddress(text) ?? {};
    return Promise.resolve(counterFixtures[check === null ? code : `${code}-${check}`]);
  },
};
