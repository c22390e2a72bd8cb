import assert from 'node:assert/strict';
import fc from 'fast-check';
import { collectionFeeMinor, transferFeeMinor, sum } from './money-model.ts';
import type { ModelPayment, ModelSub, MoneyModel } from './money-model.ts';
import { dalasi } from './walked-shop.ts';
import type { WalkedShop } from './walked-shop.ts';

type Body = Readonly<Record<string, unknown>>;
type Walk = fc.AsyncCommand<MoneyModel, WalkedShop>;

/** An operation of a walk: what it does to the shop, and to the model. */
interface Operation<Args> {
  name: string;
  args: fc.Arbitrary<Args>;
  /** Whether it makes sense now. */
  check?: (model: MoneyModel, args: Args) => boolean;
  run: (model: MoneyModel, shop: WalkedShop, args: Args) => Promise<void>;
}

const pick = fc.nat({ max: 1_000 });
const amount = fc.oneof(fc.bigInt(200n, 900n), fc.bigInt(200n, 30_000n));
const secondMs = 1_000;
const extraMinor = 100n;
const subAccountsMax = 4;

function picked<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(items.length, 1)];
}

function living(model: MoneyModel): ModelSub[] {
  return model.subAccounts.filter(({ isDeleted }) => !isDeleted);
}

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
  sub: number | null;
  customer: number | null;
}

const payArgs: fc.Arbitrary<PayArgs> = fc.record({
  amountMinor: amount,
  payer: payer as fc.Arbitrary<Payer>,
  network: fc.constantFrom('aps', 'afrimoney'),
  sub: fc.option(pick),
  customer: fc.option(pick),
});

/** The sub-account that the payment is shared with, if there is one. */
function sharedWith(model: MoneyModel, { sub }: PayArgs): ModelSub | undefined {
  return sub === null ? undefined : picked(living(model), sub);
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
    const sub = sharedWith(model, args);
    const customer = args.customer === null ? undefined : picked(model.customers, args.customer);
    const data = {
      amount: dalasi(args.amountMinor),
      ...accountOf(args),
      ...(sub && { sub_account: sub.id }),
      ...(customer !== undefined && { customer }),
    };
    const expected = sub && !sub.isActive ? 'sub_account_paused' : 201;
    const created = await shop.post('/v1/payments', { data }, expected);
    if (expected !== 201) return;
    const intent = await shop.story.intent(String(created['payment_intent_id']));
    await startPayment(model, shop, intent, args.payer);
  },
};

const payThroughLink: Operation<PayArgs> = {
  name: 'pay through a link',
  args: payArgs,
  check: (model, args) => sharedWith(model, args)?.isActive !== false,
  async run(model, shop, args) {
    const sub = sharedWith(model, args);
    const data = { title: 'Fees', amount: dalasi(args.amountMinor), ...(sub && { sub_account: sub.id }) };
    const link = await shop.post('/v1/payment-links', { data }, 201);
    const intent = await shop.payThroughLink(String(link['url']), accountOf(args));
    await startPayment(model, shop, intent, args.payer);
  },
};

function unpaid({ payments }: MoneyModel): ModelPayment[] {
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

function waiting({ payments, nowMs }: MoneyModel): ModelPayment[] {
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

type Beneficiary = 'gets' | 'refuses' | 'gets_later' | 'returns';
const beneficiaryNumbers: Readonly<Record<Beneficiary, string>> = {
  gets: '7000001',
  refuses: '7000002',
  gets_later: '7000009',
  returns: '7000012',
};

function followTransfer(model: MoneyModel, amountMinor: bigint, beneficiary: Beneficiary): void {
  model.accept(amountMinor);
  const atMs = model.nowMs + 2 * secondMs;
  if (beneficiary === 'refuses') model.end(amountMinor, false);
  else if (beneficiary === 'gets_later') model.underWay.push({ amountMinor, next: 'pays', atMs });
  else model.end(amountMinor, true);
  if (beneficiary === 'returns') model.underWay.push({ amountMinor, next: 'returns', atMs });
}

interface TransferArgs {
  amountMinor: bigint;
  beneficiary: Beneficiary;
}

const transfer: Operation<TransferArgs> = {
  name: 'transfer',
  args: fc.record({
    amountMinor: fc.bigInt(100n, 12_000n),
    beneficiary: fc.constantFrom<Beneficiary>('gets', 'gets', 'refuses', 'gets_later', 'returns'),
  }),
  async run(model, shop, { amountMinor, beneficiary }) {
    // What is in reserve cannot be spent; how much that is, the model leaves open.
    const spendable = model.isSettled ? model.merchantMinor : await shop.story.balance('payable_available');
    const refusal = model.merchantMinor < 0n ? 'merchant_owes' : 'insufficient_balance';
    const expected = spendable >= amountMinor + transferFeeMinor ? 201 : refusal;
    const account = { network: 'aps', account_number: beneficiaryNumbers[beneficiary], beneficiary_name: 'Awa Ceesay' };
    await shop.post('/v1/transfers', { amount: dalasi(amountMinor), ...account }, expected);
    if (expected === 201) followTransfer(model, amountMinor, beneficiary);
  },
};

const addSub: Operation<{ percent: number; refusesPayouts: boolean }> = {
  name: 'add a sub-account',
  args: fc.record({ percent: fc.integer({ min: 1, max: 100 }), refusesPayouts: fc.boolean() }),
  check: (model) => living(model).length < subAccountsMax,
  async run(model, shop, { percent, refusesPayouts }) {
    const account = { settlement_code: 'qmoney', account_number: refusesPayouts ? '7000002' : '7000001' };
    const { id } = await shop.post('/v1/sub-accounts', { name: 'Awa', percentage: percent, ...account }, 201);
    model.subAccounts.push({ id: String(id), isActive: true, isDeleted: false, refusesPayouts });
  },
};

const changeSub: Operation<{ index: number; percent: number; isActive: boolean }> = {
  name: 'change a sub-account',
  args: fc.record({ index: pick, percent: fc.integer({ min: 1, max: 100 }), isActive: fc.boolean() }),
  check: (model) => living(model).length > 0,
  async run(model, shop, { index, percent, isActive }) {
    const sub = picked(living(model), index);
    assert.ok(sub);
    const { status } = await shop.send('PUT', `/v1/sub-accounts/${sub.id}`, { percentage: percent, active: isActive });
    assert.equal(status, 200);
    sub.isActive = isActive;
  },
};

const deleteSub: Operation<number> = {
  name: 'delete a sub-account',
  args: pick,
  check: (model) => living(model).length > 0,
  async run(model, shop, index) {
    const sub = picked(living(model), index);
    assert.ok(sub);
    const isOpen = waiting(model).some(({ shares }) => shares.has(sub.id));
    const hasMoney = (model.subs.get(sub.id) ?? 0n) > 0n || (model.owed.get(sub.id) ?? 0n) > 0n;
    const { status, body } = await shop.send('DELETE', `/v1/sub-accounts/${sub.id}`);
    if (status === 200) assert.ok(!hasMoney && !isOpen, 'only a sub-account without money or open payments is deleted');
    else assert.equal(body['code'], 'sub_account_in_use');
    sub.isDeleted = status === 200;
  },
};

const payOut: Operation<number> = {
  name: 'pay out a sub-account',
  args: pick,
  check: (model) => model.isSettled && living(model).length > 0,
  async run(model, shop, index) {
    const sub = picked(living(model), index);
    assert.ok(sub);
    const balance = model.subs.get(sub.id) ?? 0n;
    const path = `/v1/sub-accounts/${sub.id}/payouts`;
    if (balance < 1_000n) return void (await shop.post(path, {}, 'balance_below_minimum'));
    const payout = await shop.post(path, {}, 201);
    assert.equal(payout['amount'], dalasi(balance));
    model.payOut(sub.id, balance);
    model.endPayout(sub.id, balance, !sub.refusesPayouts);
  },
};

const addCustomer: Operation<null> = {
  name: 'add a customer',
  args: fc.constant(null),
  async run(model, shop) {
    const { id } = await shop.post('/v1/customers', { name: 'Fatou Touray' }, 201);
    model.customers.push(String(id));
  },
};

const eraseCustomer: Operation<number> = {
  name: 'erase a customer',
  args: pick,
  check: (model) => model.customers.length > 0,
  async run(model, shop, index) {
    const [id] = model.customers.splice(index % model.customers.length, 1);
    assert.equal((await shop.send('DELETE', `/v1/customers/${id}`)).status, 200);
  },
};

const passTime: Operation<number> = {
  name: 'pass time',
  // What the networks do next happens within seconds, payments expire after half an hour, and reserves end after an hour.
  args: fc.constantFrom(5, 5, 31 * 60, 61 * 60),
  async run(model, shop, seconds) {
    for (const ms of [seconds * secondMs, 31 * secondMs]) {
      await shop.story.advance(ms);
      model.passTime(ms);
    }
  },
};

class Command<Args> implements fc.AsyncCommand<MoneyModel, WalkedShop> {
  readonly #operation: Operation<Args>;
  readonly #args: Args;

  constructor(operation: Operation<Args>, args: Args) {
    this.#operation = operation;
    this.#args = args;
  }

  check(model: Readonly<MoneyModel>): boolean {
    return this.#operation.check?.(model, this.#args) ?? true;
  }

  async run(model: MoneyModel, shop: WalkedShop): Promise<void> {
    await this.#operation.run(model, shop, this.#args);
    shop.commands += 1;
    await shop.compare(model);
  }

  toString(): string {
    return `${this.#operation.name} ${fc.stringify(this.#args)}`;
  }
}

function times<Args>(weight: number, operation: Operation<Args>): fc.Arbitrary<Walk>[] {
  const command = operation.args.map((args): Walk => new Command(operation, args));
  return Array.from({ length: weight }, () => command);
}

/** Sequences of all operations, `count` long and more on average, that shrink to the few that a fault needs. */
export function walksOf(count: number): fc.Arbitrary<Iterable<Walk>> {
  const all = [
    ...times(5, pay),
    ...times(1, payThroughLink),
    ...times(3, approve),
    ...times(1, cancelPayment),
    ...times(2, reverse),
    ...times(4, refund),
    ...times(4, transfer),
    ...times(2, addSub),
    ...times(1, changeSub),
    ...times(1, deleteSub),
    ...times(2, payOut),
    ...times(1, addCustomer),
    ...times(1, eraseCustomer),
    ...times(3, passTime),
  ];
  // Lengths are spread evenly below the maximum, and a command that makes no sense when its time comes is left out.
  return fc.commands(all, { maxCommands: count * 4, size: 'max' });
}
