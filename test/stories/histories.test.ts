import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { seededRandom, systemRandom } from '../../server/src/kit/random.ts';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import { createApiClient, type ApiClient, type ApiResponse } from '../harness/api-client.ts';
import { effort } from '../harness/effort.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, type TestService } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';
import { findBalanceAnomaly } from '../histories/balance-history.ts';
import {
  addsOf,
  changesOf,
  listEvents,
  listMovements,
  listRecords,
  versionsOf,
  type MerchantRows,
  type MovementRow,
  type RecordRow,
} from '../histories/books.ts';
import { actUntil, createShop, findCharge, payFrom, refundCharge, type Shop } from '../histories/client.ts';
import { findEventAnomaly, findRecordAnomaly } from '../histories/record-history.ts';

// Clients of two services on one database move one merchant's money and read it. Then checkers look for one order of all
// transactions that explains everything that the clients were shown (test/histories/README.md).

const clients = 8;
const lasts = effort({ usual: { acts: 300, ms: Infinity }, long: { acts: Infinity, ms: 600_000 } });
// So that transactions race each other in the database.
const connectionsMax = 10;
// So little that some transfers are refused.
const openingDalasi = 300;

let services: TestService[];
let merchantId: string;
let rows: MerchantRows;
let shop: Shop;
/** From before the clients. */
let earlier: MovementRow[];

before(async () => {
  // With the service's own time limits: what waits too long for a lock is refused.
  const options = { settings: { RATE_LIMIT_TEST: '0', LOG_LEVEL: 'error' }, connectionsMax, isPatient: false };
  const first = await startService(options);
  services = [first, await startService({ ...options, database: first.database })];
  const { test: merchant } = await first.onboard();
  merchantId = merchant.merchant.id;
  rows = (text) => asOwner(first, text, [merchantId]);
  const apis = services.map(({ url }) => createApiClient(url, merchant.key));
  const api = createApiClient(first.url, merchant.key);
  await spendTestMoney(api);
  const seed = Buffer.from(systemRandom.bytes(6)).toString('hex');
  console.log(`seed ${seed}`);
  shop = createShop(apis, [await createSubAccount(api), await createSubAccount(api)], seededRandom(seed));
  await untilAllEnded();
  earlier = await listMovements(rows);
});

after(async () => {
  for (const service of services.toReversed()) await service.stop();
});

async function spendTestMoney(api: ApiClient): Promise<void> {
  const account = { network: 'aps', account_number: '7000001', beneficiary_name: 'Awa Ceesay' };
  for (let spent = 0; ; spent += 1) {
    const { body } = await api.get('/v1/balances');
    const amount = Math.min(Number(body['payout_balance']) - openingDalasi, 100_000);
    if (amount <= 0) return;
    const { status, text } = await api.post(
      '/v1/transfers',
      { amount, ...account },
      { 'idempotency-key': `test money ${spent}` },
    );
    assert.equal(status, 201, text);
  }
}

async function createSubAccount(api: ApiClient): Promise<string> {
  const data = { name: 'Awa', percentage: 30, settlement_code: 'aps', account_number: '7000001' };
  const created = await api.post('/v1/sub-accounts', data);
  assert.equal(created.status, 201, created.text);
  return String(created.body['id']);
}

/** All but the payments that wait for a tap on a phone. */
async function untilAllEnded(): Promise<void> {
  const text = `SELECT 1 FROM transfers WHERE merchant_id = $1 AND status = 'pending' UNION ALL
    SELECT 1 FROM charges WHERE merchant_id = $1 AND status = 'pending' AND account_number <> '7001234'`;
  await eventually('all has ended', async () => (await rows(text)).length === 0, 600_000);
}

/** A paid payment that no other client knows, and refunds first. It is larger than any refund. */
async function payAlone() {
  const alone = { ...shop, intents: [] };
  const intentId = await payFrom(alone, { amount: 400, network: 'aps', account_number: '7000001' });
  await eventually('it is paid', async () => (await findCharge(shop, intentId))['status'] === 'completed');
  return { intentId, charge: await findCharge(shop, intentId) };
}

/**
 * Requests a refund, which locks its payment and then the balance, while another session that has the balance locked waits for the
 * payment. That session waits too long to be the victim.
 */
async function refundInDeadlock(): Promise<ApiResponse> {
  const { intentId, charge } = await payAlone();
  const lockIntent = 'SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = $2 FOR UPDATE';
  const isLocked = async (): Promise<boolean> => {
    const [service] = services;
    return (
      service !== undefined &&
      (await asOwner(service, `${lockIntent} SKIP LOCKED`, [merchantId, intentId])).length === 0
    );
  };
  return withAdminClient(services[0]?.database.adminUrl ?? '', async (client) => {
    await client.query(`SET deadlock_timeout = '60s'`);
    await client.query('BEGIN');
    const lockBalance = `SELECT 1 FROM ledger_accounts WHERE merchant_id = $1 AND account = 'payable_available' FOR UPDATE`;
    await client.query(lockBalance, [merchantId]);
    const refunded = refundCharge(shop, charge);
    await eventually('the refund has locked its payment', isLocked);
    await client.query(lockIntent, [merchantId, intentId]);
    await client.query('COMMIT');
    shop.intents.push(intentId);
    return refunded;
  });
}

async function refundAlone(): Promise<void> {
  const { intentId, charge } = await payAlone();
  shop.intents.push(intentId);
  const { status, text } = await refundCharge(shop, charge);
  assert.equal(status, 201, text);
}

async function countDeadlocks(): Promise<number> {
  const text =
    'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database() AND $1::uuid IS NOT NULL';
  return (await rows<{ deadlocks: number }>(text))[0]?.deadlocks ?? 0;
}

test('no error but a documented 503 reaches concurrent clients, and a deadlock is retried', async (context) => {
  const endMs = performance.now() + lasts.ms;
  let acts = 0;
  const isOver = (): boolean => (acts += 1) > lasts.acts || performance.now() > endMs;
  const acting = Array.from({ length: clients }, () => actUntil(shop, isOver));
  const before = await countDeadlocks();
  const [refund] = await Promise.all([refundInDeadlock(), ...acting]);
  // The clients refund rarely, and all of it may have been refused.
  if (!shop.counts.has('refund done')) await refundAlone();
  assert.ok(refund.status === 201 || refund.body['code'] === 'insufficient_balance', refund.text);
  await eventually('the deadlock is counted', async () => (await countDeadlocks()) > before);
  await untilAllEnded();
  const counts = [...shop.counts].map(([what, count]) => `${count} × ${what}`).toSorted();
  context.diagnostic(`${await countDeadlocks()} deadlocks; ${counts.join(', ')}`);
  for (const what of ['transfer done', 'transfer insufficient_balance', 'refund done'])
    assert.ok(shop.counts.has(what), `the run has no ${what}: ${counts.join(', ')}`);
});

test('balances that clients read, and refusals, follow one order of the transactions and real time', async (context) => {
  const movements = await listMovements(rows);
  const changes = changesOf(movements.slice(earlier.length), shop.history);
  const { observations } = shop.history;
  const shown = changes.filter(({ byMs }) => byMs !== Infinity);
  context.diagnostic(
    `${observations.length} observations of ${changes.length} changes, ${shown.length} of them acknowledged`,
  );
  assert.ok(shown.length > changes.length / 2 && observations.length > changes.length / 2);
  assert.equal(findBalanceAnomaly({ opening: addsOf(earlier), changes, observations }), undefined);
});

test('no record that clients read goes back, or shows what was not committed; its events have no gap', async (context) => {
  const [records, events] = [await listRecords(rows), await listEvents(rows)];
  const failed = new Set(records.flatMap(({ intent, status }) => (status === 'failed' ? [intent] : [])));
  const wasCancelled = (intent: string | null) => events.get(intent ?? '')?.some(({ state }) => state === 'cancelled');
  const betweenOf = ({ id, intent, status }: RecordRow): string | null => {
    if (failed.has(id)) return 'requires_payment_method';
    return wasCancelled(intent) === true && status !== 'cancelled' ? 'cancelled' : null;
  };
  let reads = 0;
  for (const record of records) {
    const [own, all] = [shop.history.reads.get(record.id) ?? [], events.get(record.id) ?? []];
    reads += own.length;
    const versions = versionsOf(record, all, betweenOf(record));
    const found = findRecordAnomaly(versions, own);
    assert.equal(
      found,
      undefined,
      `${record.kind} ${record.id}, ${versions.map(({ state }) => state).join(', ')}: ${found}`,
    );
    for (const read of [all, ...(shop.history.eventReads.get(record.id) ?? [])])
      assert.equal(findEventAnomaly(all, read), undefined, `events of ${record.kind} ${record.id}`);
  }
  context.diagnostic(`${reads} reads of ${records.length} records`);
});

test('in the end the ledger verifies, and holds what was acknowledged and nothing else', async () => {
  for (const { db } of services) {
    assert.equal((await verifyLedger(db)).finding, null);
    assert.equal(await verifyHolds(db), null);
  }
  const before = new Set(earlier.map(({ source }) => source));
  const records = (await listRecords(rows)).filter(({ id }) => !before.has(id));
  const idsOf = (kind: string): string[] =>
    ofKind(records, kind)
      .map(({ id }) => id)
      .toSorted();
  assert.deepEqual(idsOf('intent'), shop.intents.toSorted());
  assert.deepEqual(idsOf('transfer'), shop.transfers.toSorted());
  assert.deepEqual(idsOf('sub_account_payout'), shop.payouts.toSorted());
  assert.deepEqual(idsOf('refund'), shop.refunds.toSorted());
  const paidOut = ['transfer', 'sub_account_payout', 'refund'].map((kind) => sum(ofKind(records, kind), 'completed'));
  const expected = paidOut.reduce(
    (left, paid) => left - paid,
    total(addsOf(earlier)) + sum(ofKind(records, 'intent'), 'successful'),
  );
  assert.equal(total(addsOf(await listMovements(rows))), expected);
});

function ofKind(records: readonly RecordRow[], kind: string): RecordRow[] {
  return records.filter((record) => record.kind === kind);
}

function sum(records: readonly RecordRow[], state: string): bigint {
  return records.reduce((total, { status, amount }) => (status === state ? total + BigInt(amount) : total), 0n);
}

/** What the merchant and its sub-accounts have. */
function total(balances: ReadonlyMap<string, bigint>): bigint {
  const own = [...balances].filter(([account]) => /^(payable_|sub:)/.test(account));
  return own.reduce((all, [, balance]) => all + balance, 0n);
}
