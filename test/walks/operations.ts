import assert from 'node:assert/strict';
import fc from 'fast-check';
import { reserveMs, transferFeeMinor, type MoneyModel } from './money-model.ts';
import { living, pick, picked, times, type Operation, type Walk } from './operation.ts';
import { paymentCommands, unpaid, waiting } from './payment-operations.ts';
import { dalasi, type WalkedShop } from './walked-shop.ts';

const secondMs = 1_000;
const subAccountsMax = 4;

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

const groupPercents = [60, 40];

const addGroup: Operation<number> = {
  name: 'add a group',
  args: pick,
  check: (model) => living(model).length >= groupPercents.length && model.groups.length === 0,
  async run(model, shop, index) {
    const all = living(model);
    const members = groupPercents.map((_, at) => picked(all, index + at)?.id ?? '');
    const shares = members.map((id, at) => ({ sub_account: id, percentage: groupPercents[at] }));
    const { id } = await shop.post('/v1/sub-account-groups', { name: 'Rent', members: shares }, 201);
    model.groups.push({ id: String(id), members });
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
    const isMember = model.groups.some(({ members }) => members.includes(sub.id));
    if (status === 200) assert.ok(!hasMoney && !isOpen && !isMember, 'it has neither money, open payments nor a group');
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
  run: passSeconds,
};

/** And half a minute more, in which what is due is looked up. */
async function passSeconds(model: MoneyModel, shop: WalkedShop, seconds: number): Promise<void> {
  for (const ms of [seconds * secondMs, 31 * secondMs]) {
    await shop.story.advance(ms);
    model.passTime(ms);
  }
}

/** Everybody who still can pays, and what is under way ends; so that no look-up of this walk is left for the next. */
export async function endWalk(model: MoneyModel, shop: WalkedShop): Promise<void> {
  for (const payment of unpaid(model)) {
    await shop.approve(payment, model.nowMs);
    model.succeed(payment);
  }
  await passSeconds(model, shop, reserveMs / secondMs);
  await shop.compare(model);
}

/** Sequences of all operations, `count` long and more on average, that shrink to the few that a fault needs. */
export function walksOf(count: number): fc.Arbitrary<Iterable<Walk>> {
  const all = [
    ...paymentCommands,
    ...times(4, transfer),
    ...times(2, addSub),
    ...times(1, changeSub),
    ...times(1, addGroup),
    ...times(1, deleteSub),
    ...times(2, payOut),
    ...times(1, addCustomer),
    ...times(1, eraseCustomer),
    ...times(3, passTime),
  ];
  // Lengths are spread evenly below the maximum, and a command that makes no sense when its time comes is left out.
  return fc.commands(all, { maxCommands: count * 3, size: 'max' });
}
