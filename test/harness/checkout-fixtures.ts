import type { CheckoutCharge, CheckoutView, TypedId } from '../../server/src/payments/checkout-view.ts';

/** The time at which every fixture is shown. */
export const fixtureTime = new Date('2026-11-20T10:18:00.000Z');

export const sampleNetworks: CheckoutView['networks'] = [
  { id: 'wave', displayName: 'Wave', numberRequired: false, operator: null },
  { id: 'afrimoney', displayName: 'Afrimoney', numberRequired: true, operator: 'africell' },
  { id: 'qmoney', displayName: 'QMoney', numberRequired: true, operator: 'qcell' },
  { id: 'aps', displayName: 'APS', numberRequired: true, operator: null },
];

const noAppearance = {
  pageColour: null,
  contactPhone: null,
  contactWhatsapp: null,
  contactEmail: null,
  logoSetAt: null,
  contactText: null,
};

export function sampleView(changes: Partial<CheckoutView> = {}): CheckoutView {
  return {
    merchantId: '01939f00-0000-7000-8000-000000000001',
    intentId: '01939f00-0000-7000-8000-000000000002',
    merchantName: 'Kairaba Bookshop',
    appearance: noAppearance,
    testMode: true,
    status: 'requires_payment_method',
    counterName: null,
    title: 'Order 1042',
    description: 'School books for two, delivered to Bakau',
    customFields: [],
    currency: 'GMD',
    amountMinor: 125_000n,
    feeMinor: 0n,
    totalMinor: 125_000n,
    expiresAt: new Date('2026-11-20T10:48:00.000Z'),
    returnUrl: 'https://shop.example/thanks?payment_intent_id=1&status=successful',
    cancelUrl: 'https://shop.example/basket',
    attemptsLeft: 5,
    customerPhone: null,
    networks: sampleNetworks,
    charge: null,
    canChange: false,
    openPrompts: [],
    ...changes,
  };
}

export function sampleCharge(changes: Partial<CheckoutCharge> = {}): CheckoutCharge {
  return {
    id: '01939f00-0000-7000-8000-000000000003',
    attempt: 1,
    isAbandoned: false,
    networkId: 'afrimoney',
    networkName: 'Afrimoney',
    maskedNumber: '.... 2345',
    number: '7012345',
    receivedDirectly: false,
    waitingSince: fixtureTime,
    simulatedNumber: null,
    status: 'pending',
    progress: 'awaiting_payer',
    nextAction: { type: 'approve_then_confirm' },
    failureCode: null,
    underReview: false,
    transactionReference: 'TX-20261120-101742-7KQ2M9XD',
    shortCode: 'M9XD',
    amountPaidMinor: 125_000n,
    amountRefundedMinor: 0n,
    amountReversedMinor: 0n,
    arrivedMinor: null,
    paidAt: null,
    ...changes,
  };
}

function processing(charge: Partial<CheckoutCharge>): CheckoutView {
  return sampleView({ status: 'processing', attemptsLeft: 4, charge: sampleCharge(charge) });
}

function sending(typedId?: TypedId): CheckoutView {
  const nextAction = {
    type: 'send_and_enter_id',
    toNumber: '7001234',
    toName: 'Kairaba Books',
    amount: '450.00',
  } as const;
  const network = { networkId: 'wave', networkName: 'Wave', number: null, maskedNumber: '', receivedDirectly: true };
  const view = processing({ ...network, nextAction, amountPaidMinor: 45_000n, ...(typedId && { typedId }) });
  return { ...view, amountMinor: 45_000n, totalMinor: 45_000n };
}

/** A payment that has ended without the network's message. */
function sentWithout({
  status,
  failureCode,
}: {
  status: 'expired' | 'cancelled';
  failureCode: 'expired' | 'cancelled';
}) {
  const view = sending();
  const end = { status: failureCode === 'expired' ? 'failed' : 'cancelled', progress: 'final' } as const;
  return { ...view, status, charge: sampleCharge({ ...view.charge, ...end, nextAction: null, failureCode }) };
}

const paid = sampleCharge({
  status: 'completed',
  progress: 'final',
  nextAction: null,
  paidAt: fixtureTime,
});

const insufficientFunds = sampleCharge({
  status: 'failed',
  progress: 'final',
  nextAction: null,
  failureCode: 'insufficient_funds',
});

const secondInsufficientFunds = sampleCharge({
  ...insufficientFunds,
  id: 'second',
  attempt: 2,
  networkId: 'aps',
  networkName: 'APS',
  maskedNumber: '.... 4567',
  number: '3014567',
});

const customFields = [
  { label: 'Student', value: 'Awa Ceesay' },
  { label: 'Class', value: '4B' },
];

const openPrompts = [sampleCharge()];

/** A merchant that has set everything. */
export const fullAppearance = {
  pageColour: '#8a1c4a',
  contactPhone: '+2207012345',
  contactWhatsapp: '+2207012345',
  contactEmail: 'shop@kairaba.example',
  contactText: 'At the counter until 17:00.',
  logoSetAt: fixtureTime,
};

const waveLink = 'https://pay.wave.example/c/cos-18qq25rgr100a?a=1250&c=GMD&m=Kairaba%20Bookshop';

/** Every state of the checkout page, by the name of its screenshot. */
export const checkoutFixtures: Record<string, CheckoutView> = {
  choose: sampleView(),
  'choose-live': sampleView({ testMode: false }),
  'choose-with-fee': sampleView({ amountMinor: 45_000n, feeMinor: 900n, totalMinor: 45_900n, description: null }),
  'choose-one-network': sampleView({ networks: sampleNetworks.slice(1, 2), title: null, description: null }),
  'choose-no-network': sampleView({ networks: [] }),
  'choose-after-refusal': sampleView({ attemptsLeft: 3, charge: insufficientFunds }),
  'choose-after-declining': sampleView({
    attemptsLeft: 4,
    charge: { ...insufficientFunds, failureCode: 'declined_by_payer' },
  }),
  'choose-last-try': sampleView({ attemptsLeft: 1, charge: insufficientFunds }),
  'choose-long-texts': sampleView({
    merchantName: 'Serekunda Women Gardeners and Traders Cooperative Society Limited, Latrikunda Sabiji Branch',
    title: 'Membership of the year 2027 with seeds, tools and the insurance against the floods of the rainy season',
    description: `Reference ${'A1B2'.repeat(20)} to be kept`,
    amountMinor: 100_000_000n,
    totalMinor: 100_000_000n,
  }),
  'choose-appearance': sampleView({ appearance: fullAppearance }),
  'approve-nothing-appearance': {
    ...processing({ waitingSince: new Date(fixtureTime.getTime() - 50_000) }),
    canChange: true,
    appearance: fullAppearance,
  },
  'failed-appearance': sampleView({
    status: 'failed',
    attemptsLeft: 0,
    charge: insufficientFunds,
    appearance: fullAppearance,
  }),
  'paid-appearance': sampleView({ status: 'successful', charge: paid, appearance: fullAppearance }),
  starting: processing({ progress: 'submitted', nextAction: null }),
  open_url: processing({
    networkId: 'wave',
    networkName: 'Wave',
    maskedNumber: '',
    nextAction: { type: 'open_url', url: waveLink },
  }),
  approve_on_phone: processing({ networkId: 'aps', networkName: 'APS', nextAction: { type: 'approve_on_phone' } }),
  approve_then_confirm: processing({}),
  'approve-changeable': { ...processing({ nextAction: { type: 'approve_on_phone' } }), canChange: true },
  'approve-nothing-arrived': {
    ...processing({ waitingSince: new Date(fixtureTime.getTime() - 50_000) }),
    canChange: true,
  },
  'approve-second-number': {
    ...processing({
      id: 'second',
      attempt: 2,
      networkId: 'qmoney',
      networkName: 'QMoney',
      maskedNumber: '.... 4567',
      number: '3014567',
    }),
    attemptsLeft: 3,
    canChange: true,
    openPrompts,
  },
  'choose-after-leaving': sampleView({
    attemptsLeft: 4,
    charge: sampleCharge({ nextAction: null, isAbandoned: true }),
    openPrompts,
  }),
  'choose-after-left-ended': sampleView({
    attemptsLeft: 4,
    charge: { ...insufficientFunds, failureCode: 'cancelled', isAbandoned: true },
  }),
  'choose-after-second-refusal': sampleView({ attemptsLeft: 3, charge: secondInsufficientFunds, openPrompts }),
  'failed-after-leaving': sampleView({
    status: 'failed',
    attemptsLeft: 0,
    charge: secondInsufficientFunds,
    openPrompts: [
      sampleCharge(),
      sampleCharge({ id: 'another', networkName: 'QMoney', transactionReference: 'TX-20261120-101500-3HJ8K2LW' }),
    ],
  }),
  'paid-after-leaving': sampleView({
    status: 'successful',
    charge: { ...paid, id: 'second', attempt: 2 },
    openPrompts,
  }),
  'asking-changeable': {
    ...processing({ networkId: 'aps', networkName: 'APS', progress: 'unknown', nextAction: null }),
    canChange: true,
  },
  'enter_code-changeable': {
    ...processing({
      networkId: 'qmoney',
      networkName: 'QMoney',
      nextAction: { type: 'enter_code', length: 6 },
      waitingSince: new Date(fixtureTime.getTime() - 50_000),
    }),
    canChange: true,
  },
  'choose-known-number': sampleView({ customerPhone: '+220 877012345' }),
  enter_code: processing({
    networkId: 'qmoney',
    networkName: 'QMoney',
    nextAction: { type: 'enter_code', length: 6 },
  }),
  send: sending(),
  'send-changeable': { ...sending(), canChange: true, testMode: false },
  'send-typed': sending({ value: 'T_QK7H2M4P', waitsFor: 'message', triesLeft: 5 }),
  'send-typed-large': sending({ value: 'T_QK7H2M4P', waitsFor: 'statement', triesLeft: 5 }),
  'send-typed-twice': sending({ value: 'T_QK7H2M4P', waitsFor: 'check', triesLeft: 5 }),
  'send-refused': sending({ value: null, waitsFor: null, triesLeft: 4 }),
  'send-closed': sending({ value: null, waitsFor: null, triesLeft: 0 }),
  'send-expired': sentWithout({ status: 'expired', failureCode: 'expired' }),
  'send-expired-after-leaving': { ...sentWithout({ status: 'expired', failureCode: 'expired' }), openPrompts },
  'send-cancelled': sentWithout({ status: 'cancelled', failureCode: 'cancelled' }),
  asking: processing({ networkId: 'wave', networkName: 'Wave', progress: 'unknown', nextAction: null }),
  review: processing({ underReview: true, amountPaidMinor: 120_000n, arrivedMinor: 120_000n }),
  paid: sampleView({ status: 'successful', charge: paid }),
  'paid-with-fee': sampleView({
    status: 'successful',
    charge: { ...paid, amountPaidMinor: 45_900n },
    amountMinor: 45_000n,
    feeMinor: 900n,
    totalMinor: 45_900n,
    testMode: false,
  }),
  'paid-other-amount': sampleView({ status: 'successful', charge: { ...paid, amountPaidMinor: 120_000n } }),
  'paid-at-counter': sampleView({
    status: 'successful',
    title: 'Main counter',
    counterName: 'Main counter',
    description: null,
    returnUrl: null,
    charge: { ...paid, paidAt: new Date(fixtureTime.getTime() - 12_000) },
  }),
  'paid-address-as-text': sampleView({
    status: 'successful',
    charge: paid,
    returnUrl: 'intent://thanks/1042#Intent;scheme=kairaba;package=gm.kairaba.shop;end',
  }),
  'cancelled-address-as-text': sampleView({
    status: 'cancelled',
    cancelUrl: `view-source:https://shop.example/basket?${'item=school-book&'.repeat(20)}`,
  }),
  'paid-refunded': sampleView({ status: 'successful', charge: { ...paid, status: 'refunded' } }),
  'paid-partly-refunded': sampleView({ status: 'successful', charge: { ...paid, amountRefundedMinor: 25_000n } }),
  'paid-partly-reversed': sampleView({ status: 'successful', charge: { ...paid, amountReversedMinor: 100_000n } }),
  'choose-with-answers': sampleView({ customFields, description: 'Two school books\nDelivered to Bakau' }),
  'paid-with-answers': sampleView({ status: 'successful', customFields, charge: paid }),
  reversed: sampleView({ status: 'successful', charge: { ...paid, status: 'reversed' } }),
  failed: sampleView({ status: 'failed', attemptsLeft: 0, charge: insufficientFunds }),
  cancelled: sampleView({ status: 'cancelled' }),
  'cancelled-while-open': sampleView({ status: 'cancelled', charge: sampleCharge({ nextAction: null }) }),
  'cancelled-after-leaving': sampleView({ status: 'cancelled', charge: insufficientFunds, openPrompts }),
  expired: sampleView({ status: 'expired', expiresAt: new Date('2026-11-20T10:17:00.000Z') }),
  'expired-while-open': sampleView({
    status: 'expired',
    expiresAt: new Date('2026-11-20T10:17:00.000Z'),
    charge: sampleCharge({ progress: 'unknown', nextAction: null }),
  }),
  'expired-without-links': sampleView({ status: 'expired', returnUrl: null, cancelUrl: null }),
};

/** The largest payment that the service takes by default. */
export const largestMinor = 100_000_000n;

/** The same state of a payment of 1,000,000.00, with its parts in proportion. */
export function largestView(view: CheckoutView): CheckoutView {
  const scaled = (minor: bigint): bigint => (minor * largestMinor) / view.totalMinor;
  const { amountMinor, feeMinor, totalMinor, charge } = view;
  return {
    ...view,
    amountMinor: scaled(amountMinor),
    feeMinor: scaled(feeMinor),
    totalMinor: scaled(totalMinor),
    charge: charge && {
      ...charge,
      amountPaidMinor: scaled(charge.amountPaidMinor),
      amountRefundedMinor: scaled(charge.amountRefundedMinor),
      amountReversedMinor: scaled(charge.amountReversedMinor),
      arrivedMinor: charge.arrivedMinor === null ? null : scaled(charge.arrivedMinor),
    },
  };
}
