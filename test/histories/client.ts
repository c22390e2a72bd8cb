import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../server/src/kit/random.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import type { Interval } from './balance-history.ts';
import { History } from './history.ts';

type Body = Readonly<Record<string, unknown>>;

/** What the clients of a run share. */
export interface Shop {
  history: History;
  /** Of the services, in turn. */
  apis: readonly ApiClient[];
  below: (count: number) => number;
  subAccounts: readonly string[];
  /** What was acknowledged. */
  intents: string[];
  charges: string[];
  transfers: string[];
  payouts: string[];
  refunds: string[];
  /** By operation and outcome. */
  counts: Map<string, number>;
}

// One that is read or changed is one of the newest, so that clients meet.
const newest = 12;
const patienceMs = 60_000;
const payers = ['7000001', '7000001', '7000001', '7000007', '7000002', '7001234'];
const beneficiaries = ['7000001', '7000001', '7000007', '7000009', '7000002', '7000008'];
const networks = ['aps', 'aps', 'wave', 'afrimoney'];

const actions: Readonly<Record<string, readonly [weight: number, act: (shop: Shop) => Promise<unknown>]>> = {
  pay: [5, pay],
  transfer: [4, transfer],
  transfer_and_cancel: [2, transferAndCancel],
  cancel_payment: [1, cancelPayment],
  refund: [2, refund],
  pay_out: [1, payOut],
  read_balances: [8, readBalances],
  read_sub_accounts: [4, readSubAccounts],
  read_record: [5, readRecord],
  read_events: [2, readEvents],
  list: [2, list],
};
const weighted = Object.values(actions).flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

/** One client: acts at random until `isOver`, one request after the other. */
export async function actUntil(shop: Shop, isOver: () => boolean): Promise<void> {
  while (!isOver()) await pick(shop, weighted)?.(shop);
}

export function createShop(apis: readonly ApiClient[], subAccounts: readonly string[], random: Random): Shop {
  return {
    ...{ history: new History(), apis, subAccounts, counts: new Map() },
    below: (count) => Buffer.from(random.bytes(4)).readUInt32BE() % count,
    ...{ intents: [], charges: [], transfers: [], payouts: [], refunds: [] },
  };
}

/**
 * A request under one key, repeated while it is refused with a documented 503; any other error of the service is a failure. Its
 * interval is from the first try to the last response.
 */
async function request(
  shop: Shop,
  { name, method = 'POST', path, body }: { name: string; method?: 'POST' | 'GET'; path: string; body?: Body },
): Promise<ApiResponse & Interval> {
  const key = randomUUID();
  const api = pick(shop, shop.apis);
  assert.ok(api);
  const fromMs = Date.now();
  for (;;) {
    const response = await (method === 'GET' ? api.get(path) : api.post(path, body ?? {}, { 'idempotency-key': key }));
    const outcome = response.status < 300 ? 'done' : String(response.body['code']);
    shop.counts.set(`${name} ${outcome}`, (shop.counts.get(`${name} ${outcome}`) ?? 0) + 1);
    const isRepeated = response.status === 503 || outcome === 'idempotency_in_progress';
    if (!isRepeated) {
      assert.ok(response.status < 500, `${name}: ${response.text}`);
      return { ...response, fromMs, byMs: Date.now() };
    }
    assert.ok(response.headers.has('retry-after'), response.text);
    // A lock that was not to be had in time; a deadlock would read as a database that is away.
    assert.doesNotMatch(response.text, /cannot reach its database/);
    assert.ok(Date.now() - fromMs < patienceMs, `${name} was refused for ${patienceMs} ms: ${response.text}`);
    await sleep(20);
  }
}

function pick<Item>({ below }: Pick<Shop, 'below'>, items: readonly Item[]): Item | undefined {
  return items[below(Math.max(items.length, 1))];
}

function pickNewest(shop: Shop, ids: readonly string[]): string | undefined {
  return pick(shop, ids.slice(-newest));
}

/** Every amount is another one, nearly, so that a balance shows which changes it has. */
function amountBelow({ below }: Shop, dalasi: number): number {
  return (100 + below(dalasi * 100)) / 100;
}

async function pay(shop: Shop): Promise<void> {
  const share = shop.below(2) === 0 ? { sub_account: pick(shop, shop.subAccounts) } : {};
  await payFrom(shop, { network: pick(shop, networks), account_number: pick(shop, payers), ...share });
}

/** Returns the intent's id. */
export async function payFrom(shop: Shop, data: Body): Promise<string> {
  const body = { data: { amount: amountBelow(shop, 400), ...data } };
  const paid = await request(shop, { name: 'pay', path: '/v1/payments', body });
  assert.equal(paid.status, 201, paid.text);
  addIntent(shop, paid);
  const id = String(paid.body['payment_intent_id']);
  shop.intents.push(id);
  return id;
}

function addIntent({ history }: Shop, response: Interval & { body: Body }): void {
  history.addRecord(response, { id: response.body['payment_intent_id'], status: response.body['status'] });
}

async function transfer(shop: Shop): Promise<string | undefined> {
  const cost = amountBelow(shop, 500);
  const account = { network: pick(shop, networks), account_number: pick(shop, beneficiaries) };
  const body = { amount: cost, ...account, beneficiary_name: 'Awa Ceesay' };
  const accepted = await request(shop, { name: 'transfer', path: '/v1/transfers', body });
  if (accepted.status !== 201) {
    assert.equal(accepted.body['code'], 'insufficient_balance', accepted.text);
    shop.history.addRefusal(accepted, { account: 'payable_available', owed: 'receivable_merchant', cost });
    return undefined;
  }
  return addNew(shop.history, shop.transfers, accepted);
}

function addNew(history: History, ids: string[], shown: Interval & { body: Body }): string {
  history.addRecord(shown, shown.body);
  const id = String(shown.body['id']);
  ids.push(id);
  return id;
}

async function transferAndCancel(shop: Shop): Promise<void> {
  const id = await transfer(shop);
  if (id === undefined) return;
  const cancelled = await request(shop, { name: 'cancel', path: `/v1/transfers/${id}/cancel` });
  if (cancelled.status === 200) shop.history.addRecord(cancelled, cancelled.body);
  else assert.equal(cancelled.body['code'], 'state_conflict', cancelled.text);
}

async function cancelPayment(shop: Shop): Promise<void> {
  const id = pickNewest(shop, shop.intents);
  if (id === undefined) return;
  const cancelled = await request(shop, { name: 'cancel_payment', path: `/v1/payments/${id}/cancel` });
  if (cancelled.status === 200) addIntent(shop, cancelled);
  else assert.equal(cancelled.body['code'], 'state_conflict', cancelled.text);
}

async function refund(shop: Shop): Promise<void> {
  const id = pickNewest(shop, shop.intents);
  if (id === undefined) return;
  const charge = await findCharge(shop, id);
  if (charge['status'] !== 'completed') return;
  const { status, text } = await refundCharge(shop, charge);
  assert.ok(status === 201 || status === 400, text);
}

export async function findCharge(shop: Shop, intentId: string): Promise<Body> {
  const charge = await request(shop, { name: 'find', method: 'GET', path: `/v1/transactions/${intentId}` });
  addNew(shop.history, shop.charges, charge);
  return charge.body;
}

export async function refundCharge(shop: Shop, { reference }: Body): Promise<ApiResponse> {
  const part = shop.below(2) === 0 ? {} : { amount: amountBelow(shop, 100) };
  const accepted = await request(shop, {
    name: 'refund',
    path: '/v1/transactions/refund',
    body: { reference, ...part },
  });
  if (accepted.status === 201) addNew(shop.history, shop.refunds, accepted);
  return accepted;
}

async function payOut(shop: Shop): Promise<void> {
  const sub = pick(shop, shop.subAccounts);
  const accepted = await request(shop, { name: 'pay_out', path: `/v1/sub-accounts/${sub}/payouts`, body: {} });
  if (accepted.status === 201) addNew(shop.history, shop.payouts, accepted);
  else if (accepted.body['code'] === 'balance_below_minimum') {
    shop.history.addRefusal(accepted, { account: `sub:${sub}`, owed: `sub_owed:${sub}`, cost: 10 });
  } else assert.fail(accepted.text);
}

async function readBalances(shop: Shop): Promise<void> {
  const { body, ...read } = await request(shop, { name: 'balances', method: 'GET', path: '/v1/balances' });
  shop.history.addBalances(read, {
    payable_available: body['payout_balance'],
    payable_pending: body['available_balance'],
    receivable_merchant: body['owed_balance'],
  });
}

async function readSubAccounts(shop: Shop): Promise<void> {
  const { body, ...read } = await request(shop, { name: 'sub-accounts', method: 'GET', path: '/v1/sub-accounts' });
  const shown: Record<string, unknown> = {};
  for (const { id, balance, owed_balance: owed } of body['data'] as Body[]) {
    shown[`sub:${String(id)}`] = balance;
    shown[`sub_owed:${String(id)}`] = owed;
  }
  shop.history.addBalances(read, shown);
}

async function readRecord(shop: Shop): Promise<void> {
  const { intents, transfers, payouts, refunds } = shop;
  const kinds = [
    ['payments', intents],
    ['transactions', intents],
    ['transfers', transfers],
    ['transfers', payouts],
    ['refunds', refunds],
  ] as const;
  const [kind = '', ids = []] = pick(shop, kinds) ?? [];
  const id = pickNewest(shop, ids);
  if (id === undefined) return;
  const read = await request(shop, { name: kind, method: 'GET', path: `/v1/${kind}/${id}` });
  assert.equal(read.status, 200, read.text);
  if (kind === 'payments') addIntent(shop, read);
  else shop.history.addRecord(read, read.body);
}

async function list(shop: Shop): Promise<void> {
  const kind = pick(shop, ['payments', 'transactions', 'transfers', 'refunds']) ?? '';
  const read = await request(shop, { name: `list ${kind}`, method: 'GET', path: `/v1/${kind}?limit=20` });
  assert.equal(read.status, 200, read.text);
  for (const body of read.body['data'] as Body[]) {
    if (kind === 'payments') addIntent(shop, { ...read, body });
    else shop.history.addRecord(read, body);
  }
}

async function readEvents(shop: Shop): Promise<void> {
  const record = pickNewest(shop, shop.below(2) === 0 ? shop.transfers : shop.charges);
  if (record === undefined) return;
  const read = await request(shop, { name: 'events', method: 'GET', path: `/v1/events?object_id=${record}` });
  assert.equal(read.status, 200, read.text);
  const events = read.body['data'] as Body[];
  const numbered = events.map(({ id, sequence }) => ({ id: String(id), sequence: Number(sequence) }));
  shop.history.addEvents(read, record, numbered);
}
