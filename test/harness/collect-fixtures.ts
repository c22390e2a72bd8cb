import { AppError, fieldError } from '../../server/src/api/app-error.ts';
import { collectionFee, noFee, type CollectionFee } from '../../server/src/merchants/fees.ts';
import type {
  CollectTargets,
  CollectTarget,
  SentForm,
  StartedPayment,
} from '../../server/src/pages/collect/collect-targets.ts';
import { readTerminalAddress } from '../../server/src/terminals/terminal-address.ts';
import { pageAppearance } from '../../server/src/pages/merchant-appearance.ts';
import { checkoutFixtures, fullAppearance, largestMinor, sampleNetworks, sampleView } from './checkout-fixtures.ts';

const { merchantId } = sampleView();

const longName =
  'The Very Long Established Kairaba Avenue Wholesale Stationery, Books and School Uniforms Company Limited';

const twoPercent: CollectionFee = { ...noFee, payer: 'customer', percentHundredths: 200n };

function collectPage(model: Partial<CollectTarget['model']>, changes: Partial<CollectTarget> = {}): CollectTarget {
  const { amountMinor = null, feeRule = { ...noFee, payer: 'business' } } = model;
  return {
    model: {
      merchantName: 'Kairaba Bookshop',
      appearance: pageAppearance({ ...sampleView().appearance, id: merchantId }),
      testMode: true,
      path: '/link/open',
      kind: 'link',
      heading: 'School fees, second term',
      description: null,
      amountMinor,
      feeMinor: amountMinor === null || feeRule.payer === 'business' ? 0n : collectionFee(feeRule, amountMinor),
      feeRule,
      networks: amountMinor === null ? [] : sampleNetworks,
      minAmountMinor: null,
      bounds: { minMinor: model.minAmountMinor ?? 1_000n, maxMinor: 100_000_000n },
      customFields: [],
      ...model,
    },
    closed: null,
    unconfirmed: false,
    pay,
    ...changes,
  };
}

async function pay({ amountMinor, choice }: SentForm): Promise<StartedPayment> {
  if (amountMinor < 10_000n)
    throw fieldError('amount_out_of_bounds', 'amount', 'The shop asks for at least D100.00 here.');
  if (amountMinor > 100_000_000n) throw new AppError('state_conflict', 'This counter takes no payments at the moment.');
  if (choice === null) return { path: '/pay/choose', view: async () => sampleView() };
  if (choice.accountNumber === '12') {
    throw fieldError('account_number_invalid', 'account_number', 'Write a Gambian number with 7 or 9 digits.');
  }
  return { path: '/pay/open_url', view: async () => checkoutFixtures['open_url'] ?? sampleView() };
}

async function refuse(): Promise<StartedPayment> {
  throw new AppError('state_conflict', 'This payment link takes no payments.');
}

/** Every state of the pages of links and counters, by the end of its address. */
export const linkFixtures: Record<string, CollectTarget> = {
  open: collectPage({
    minAmountMinor: 10_000n,
    description: 'Say whose fees they are, so that we can find your child.\nPay before 15 January.',
  }),
  appearance: collectPage({
    path: '/link/appearance',
    amountMinor: 250_000n,
    heading: 'Gala ticket',
    appearance: pageAppearance({ ...fullAppearance, id: merchantId }),
  }),
  'inactive-appearance': collectPage(
    { path: '/link/inactive-appearance', appearance: pageAppearance({ ...fullAppearance, id: merchantId }) },
    { closed: 'link-inactive' },
  ),
  fixed: collectPage({ path: '/link/fixed', amountMinor: 250_000n, heading: 'Gala ticket' }),
  fee: collectPage({ path: '/link/fee', amountMinor: 10_000n, feeRule: twoPercent, heading: 'Gala ticket' }),
  'one-network': collectPage({ path: '/link/one-network', amountMinor: 10_000n, networks: sampleNetworks.slice(1, 2) }),
  'fee-rule': collectPage({
    path: '/link/fee-rule',
    feeRule: { ...twoPercent, fixedMinor: 500n, minimumMinor: 1_000n, maximumMinor: 50_000n },
  }),
  fields: collectPage({
    path: '/link/fields',
    amountMinor: 45_000n,
    heading: 'Uniform',
    customFields: ['Child’s name', 'Number of books', 'Parent’s phone', 'Email'],
  }),
  long: collectPage({ path: '/link/long', merchantName: longName, heading: longName, description: longName.repeat(3) }),
  inactive: collectPage({ path: '/link/inactive' }, { closed: 'link-inactive', pay: refuse }),
  deleted: collectPage({ path: '/link/deleted' }, { closed: 'link-deleted', pay: refuse }),
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

export const collectFixtures: CollectTargets = targetsOf((target) => target);

/** The same pages, those with an amount for one of 1,000,000.00. */
export const largestCollectFixtures: CollectTargets = targetsOf((target) => {
  const { amountMinor, feeMinor } = target.model;
  if (amountMinor === null) return target;
  const scaled = (minor: bigint): bigint => (minor * largestMinor) / (amountMinor + feeMinor);
  return {
    ...target,
    model: { ...target.model, amountMinor: scaled(amountMinor), feeMinor: scaled(feeMinor) },
  };
});

function targetsOf(change: (target: CollectTarget) => CollectTarget): CollectTargets {
  const changed = (target: CollectTarget | undefined): CollectTarget | undefined => target && change(target);
  return {
    findLink: async (token) => changed(linkFixtures[token]),
    findCounter: async (text) => {
      const { code = '', check = null } = readTerminalAddress(text) ?? {};
      return changed(counterFixtures[check === null ? code : `${code}-${check}`]);
    },
  };
}
