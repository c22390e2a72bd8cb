import assert from 'node:assert/strict';
import fc from 'fast-check';
import { collectionFeeMinor, sum, type ModelPayment, type MoneyModel } from './money-model.ts';
import { living, pick, picked, times, type Operation, type Walk } from './operation.ts';
import { dalasi, type WalkedShop } from './walked-shop.ts';

type Body = Readonly<Record<string, unknown>>;

const amount = fc.oneof(fc.bigInt(200n, 900n), fc.bigInt(200n, 30_000n));
const extraMinor = 100n;

const payer = fc.constantFrom('approves', 'approves', 'approves', 'declines', 'waits', 'waits', 'overpays');
type Payer = 'approves' | 'declines' | 'waits' | 'overpays';
const payerNumbers: Readonly<Record<Payer, string>> = {
  approves: '7000001',
  declines: '7000002',
  waits: '7001234',
  overpays: '7000010',
};

interface PayArgs {
  amountMinor: bigint;
  payer: Payer;
  /** Whoever waits pays with APS: Afrimoney also needs a confirmation on the payment's page, which is closed once it has expired. */
  network: 'aps' | 'afrimoney';
  split: number | null;
  customer: number | null;
}

const payArgs: fc.Arbitrary<PayArgs> = fc.record({
  amountMinor: amount,
  payer,
  network: fc.constantFrom('aps', 'afrimoney'),
  split: fc.option(pick),
  customer: fc.option(pick),
});

/** With whom the payment is shared: a sub-account, a group, or nobody. */
function splitOf(model: MoneyModel, { split }: PayArgs): { fields: Body; isPaused: boolean } {
  const isPaused = (ids: readonly string[]): boolean =>
    model.subAccounts.some(({ id, isActive }) => ids.includes(id) && !isActive);
  const splits = [
    ...living(model).map(({ id }) => ({ fields: { sub_account: id }, isPaused: isPaused([id]) })),
    ...model.groups.map(({ id, members }) => ({ fields: { sub_account_group: id }, isPaused: isPaused(members) })),
  ];
  return (split === null ? undefined : picked(splits, split)) ?? { fields: {}, isPaused: false };
}

async function startPayment(model: MoneyModel, shop: WalkedShop, intent: Body, by: Payer): Promise<ModelPayment> {
  await shop.story.settle();
  const id = String(intent['id']);
  const { reference } = await shop.story.transaction(id);
  const shares = (intent['shares'] as Body[]).map(({ sub_account: sub, amount: share }) => {
    return [String(sub), BigInt(Math.round(Number(share) * 100))] as const;
  });
  const paidMinor = BigInt(Math.round(Number(intent['amount']) * 100));
  assert.ok(collectionFeeMinor + sum(shares.map(([, share]) => share)) <= paidMinor, 'the shares fit');
  const known = { id, reference: String(reference), refusesRefunds: by === 'declines' };
  const payment = model.start({ ...known, paidMinor, shares: new Map(shares) });
  if (by === 'approves') model.succeed(payment);
  if (by === 'declines') payment.state = 'declined';
  if (by === 'overpays') model.overpay(payment, extraMinor);
  return payment;
}

function accountOf({ payer: by, network }: PayArgs): { network: string; account_number: string } {
  return { network: by === 'waits' ? 'aps' : network, account_number: payerNumbers[by] };
}

const pay: Operation<PayArgs> = {
  name: 'pay',
  args: payArgs,
  async run(model, shop, args) {
    const split = splitOf(model, args);
    const customer = args.customer === null ? undefined : picked(model.customers, args.customer);
    const data = {
      amount: dalasi(args.amountMinor),
      ...accountOf(args),
      ...split.fields,
      ...(customer !== undefined && { customer }),
    };
    const expected = split.isPaused ? 'sub_account_paused' : 201;
    const created = await shop.post('/v1/payments', { data }, expected);
    if (expected !== 201) return;
    const intent = await shop.story.intent(String(created['payment_intent_id']));
    await startPayment(model, shop, intent, args.payer);
  },
};

/** By a payer on a hosted page. */
const payOnPage: Operation<PayArgs & { at: 'link' | 'counter' }> = {
  name: 'pay at a link or counter',
  args: payArgs.chain((args) => fc.constantFrom('link' as const, 'counter' as const).map((at) => ({ ...args, at }))),
  // After a form the page waits some seconds for the payer's next step, which an overpayment never brings; the clock stands.
  check: (model, args) => args.payer !== 'overpays' && !splitOf(model, args).isPaused,
  async run(model, shop, args) {
    const url = args.at === 'link' ? await newLink(model, shop, args) : await newCounter(shop);
    const amountField = args.at === 'link' ? {} : { amount: String(dalasi(args.amountMinor)) };
    const intent = await shop.payOnPage(url, { ...accountOf(args), ...amountField });
    await startPayment(model, shop, intent, args.payer);
  },
};

async function newLink(model: MoneyModel, shop: WalkedShop, args: PayArgs): Promise<string> {
  const data = { title: 'Fees', amount: dalasi(args.amountMinor), ...splitOf(model, args).fields };
  return String((await shop.post('/v1/payment-links', { data }, 201))['url']);
}

async function newCounter(shop: WalkedShop): Promise<string> {
  const counter = await shop.post('/v1/virtual-terminals', { name: 'Till 1', chat_numbers: ['7012345'] }, 201);
  return String(counter['qr_code_url']);
}

/** What a payer can still pay. */
export function unpaid({ payments }: MoneyModel): ModelPayment[] {
  return payments.filter(({ state }) => state === 'waiting' || state === 'declined' || state === 'cancelled');
}

/** On the phone, also after the payment has expired, was cancelled or declined. */
const approve: Operation<number> = {
  name: 'approve',
  args: pick,
  check: (model) => unpaid(model).length > 0,
  async run(model, shop, index) {
    const payment = picked(unpaid(model), index);
    assert.ok(payment);
    await shop.approve(payment, model.nowMs);
    model.succeed(payment);
  },
};

/** Payments that are open. */
export function waiting({ payments, nowMs }: MoneyModel): ModelPayment[] {
  return payments.filter(({ state, expiresAtMs }) => state === 'waiting' && expiresAtMs > nowMs);
}

const cancelPayment: Operation<number> = {
  name: 'cancel a payment',
  args: pick,
  check: (model) => waiting(model).length > 0,
  async run(model, shop, index) {
    const payment = picked(waiting(model), index);
    assert.ok(payment);
    await shop.post(`/v1/payments/${payment.id}/cancel`, {}, 200);
    payment.state = 'cancelled';
  },
};

const reverse: Operation<number> = {
  name: 'reverse',
  args: pick,
  check: (model) => model.isSettled && model.reversible.length > 0,
  async run(model, shop, index) {
    const payment = picked(model.reversible, index);
    assert.ok(payment);
    await shop.story.onPhone(payment.id, 'reverse');
    model.reverse(payment);
  },
};

const refund: Operation<{ index: number; perMille: bigint }> = {
  name: 'refund',
  args: fc.record({ index: pick, perMille: fc.oneof(fc.constant(1_000n), fc.bigInt(1n, 1_000n)) }),
  check: (model) => model.isSettled && model.refundable.length > 0,
  async run(model, shop, { index, perMille }) {
    const payment = picked(model.refundable, index);
    assert.ok(payment?.charge);
    const { charge, reference } = payment;
    const left = model.leftMinor(charge);
    const amountMinor = (left * perMille) / 1_000n;
    const path = '/v1/transactions/refund';
    await shop.post(path, { reference, amount: dalasi(left + 1n) }, 'refund_not_possible');
    if (amountMinor === 0n) return;
    const body = { reference, amount: dalasi(amountMinor) };
    if (!model.refund(charge, amountMinor, { canOwe: false })) {
      // What had repaid a debt may be given back beyond the balance.
      const response = await shop.story.api.post(path, body);
      if (response.status !== 201) return assert.equal(response.body['code'], 'insufficient_balance', response.text);
      assert.ok(model.everOwed, 'a refund is covered unless its payment has repaid a debt');
      model.refund(charge, amountMinor, { canOwe: true });
    } else await shop.post(path, body, 201);
    const made = charge.refunds.at(-1);
    assert.ok(made);
    if (payment.refusesRefunds) model.undo(made);
    else model.complete(made);
  },
};

/** What happens to payments, weighted. */
export const paymentCommands: readonly fc.Arbitrary<Walk>[] = [
  ...times(5, pay),
  ...times(2, payOnPage),
  ...times(3, approve),
  ...times(1, cancelPayment),
  ...times(2, reverse),
  ...times(4, refund),
];
