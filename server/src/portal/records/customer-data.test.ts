import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { testKeys } from '../../../../test/harness/service.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { userOf } from '../../database/connection-url.ts';
import { checkLedgers, summarizeChecks } from '../../ledger/check-changes.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import { runCommand } from '../../operator/run-command.ts';

let world: DashboardWorld;
let owner: Member;
let directory: string;
let id = '';
const awa = { name: 'Awa Ceesay-Bah', email: 'awa.ceesay@shop.example', phone: '7012345' };
/** The number that paid; a simulated one pays at once. */
const paidFrom = '7000001';

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  directory = mkdtempSync(join(tmpdir(), 'dalasi-customer-'));
  id = String((await world.api.post('/v1/customers', { ...awa, metadata: { house: '12' } })).body['id']);
  for (const amount of [300, 200]) await pay(amount);
  const { body } = await world.api.get(`/v1/transactions?customer=${id}`);
  const [{ reference }] = body['data'] as [{ reference: string }];
  await world.api.post('/v1/transactions/refund', { reference, amount: 50 });
  await world.service.app.drain();
});
after(async () => {
  rmSync(directory, { recursive: true });
  await world.stop();
});

async function pay(amount: number): Promise<void> {
  const data = { amount, network: 'wave', account_number: paidFrom, customer: id };
  const { body } = await world.api.post('/v1/payments', { data });
  const path = `/v1/transactions/${String(body['payment_intent_id'])}`;
  await eventually('it is paid', async () => (await world.api.get(path)).body['status'] === 'completed');
}

interface Data {
  customer: typeof awa & { metadata: object };
  events: { kind: string; record: object }[];
  payments: {
    amount: number;
    customer_name: string;
    attempts: Record<string, unknown>[];
    refunds: object[];
    timeline: object[];
  }[];
}

test('the data of a customer is whole and readable by programs, by the dashboard and by command', async () => {
  const response = await owner.get(world.at(`/customers/${id}/data`));
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /attachment; filename="kairaba-books_test_customer-.*\.json"/,
  );
  const { exported_at: at, ...data } = (await response.json()) as Data & { exported_at: string };
  assert.ok(Number.isFinite(Date.parse(at)));
  assert.deepEqual([data.customer.name, data.customer.email, data.customer.phone], Object.values(awa));
  assert.deepEqual(data.customer.metadata, { house: '12' });
  assert.ok(data.events.some(({ kind }) => kind === 'customer.created'));
  assert.deepEqual(
    data.payments.map(({ amount }) => amount),
    [200, 300],
  );
  for (const { customer_name: name, attempts, timeline } of data.payments) {
    assert.deepEqual(
      [name, attempts[0]?.['account_number'], attempts[0]?.['status']],
      [awa.name, paidFrom, 'completed'],
    );
    assert.ok(timeline.length > 1);
  }
  assert.deepEqual(data.payments.map(({ refunds }) => refunds.length).toSorted(), [0, 1]);
  const file = join(directory, 'awa.json');
  assert.equal((await exportBy(['--to', file])).code, 0);
  const { exported_at: _at, ...written } = JSON.parse(readFileSync(file, 'utf8')) as Data & { exported_at: string };
  assert.deepEqual(written, data);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.notEqual((await exportBy(['--to', file])).code, 0, 'no file is overwritten');
});

const databaseOf = () => ({ APP_DATABASE_URL: world.service.database.appUrl });

async function exportBy(words: readonly string[]): Promise<{ code: number; stderr: string }> {
  let stderr = '';
  const code = await runCommand(['customers', 'export', id, '--merchant', world.business.test.merchant.id, ...words], {
    environment: { ...testKeys, APP_ENV: 'development', PUBLIC_URL: world.service.url, ...databaseOf() },
    stdout: { write: () => true },
    stderr: { write: (text: string) => (stderr += text) },
  });
  return { code, stderr };
}

test('an export that fails leaves no part of it behind', async () => {
  const { database } = world.service;
  const file = join(directory, 'part.json');
  const role = `"${userOf(database.appUrl)}"`;
  await database.asOwner(`REVOKE SELECT ON refunds FROM ${role}`);
  const { code, stderr } = await exportBy(['--to', file]);
  await database.asOwner(`GRANT SELECT ON refunds TO ${role}`);
  assert.equal(code, 1, stderr);
  assert.equal(existsSync(file), false);
});

test('each export stands in the audit log; a cashier, and another business, get none', async () => {
  const entries = await asOwner<{ action: string; object: string }>(
    world.service,
    `SELECT action, object_id AS object FROM audit_entries WHERE action IN ('list.export', 'customers.export') AND object_id = $1`,
    [id],
  );
  assert.deepEqual(new Set(entries.map(({ action }) => action)), new Set(['list.export', 'customers.export']));
  const cashier = await world.signIn('cashier');
  assert.equal((await cashier.get(world.at(`/customers/${id}/data`))).status, 403);
  assert.equal((await owner.get(world.at(`/customers/${id}/data`, 'live'))).status, 404);
});

test('an erased customer leaves no personal data in these tables, and books that are right', async () => {
  const { db, clock, database } = world.service;
  const movements = () => asOwner(world.service, 'SELECT count(*), sum(amount) FROM ledger_movements');
  const earlier = await movements();
  assert.equal((await world.api.send('DELETE', `/v1/customers/${id}`)).status, 200);
  assert.equal((await owner.get(world.at(`/customers/${id}/data`))).status, 404);
  assert.match((await exportBy(['--to', join(directory, 'again.json')])).stderr, /no customer/);
  for (const table of [
    'customers',
    'customer_identities',
    'payment_intents',
    'charges',
    'refunds',
    'outbox',
    'mails',
    'request_log',
  ]) {
    const found = await database.asOwner(`SELECT FROM ${table} WHERE ${table}::text ~* $1`, [
      'Ceesay-Bah|awa\\.ceesay|7012345',
    ]);
    assert.equal(found.rowCount, 0, table);
  }
  assert.deepEqual(await movements(), earlier);
  assert.equal((await verifyLedger(db)).finding, null);
  const later = { now: () => new Date(clock.now().getTime() + 600_000), sleep: clock.sleep.bind(clock) };
  const { log } = { log: { debug() {}, info() {}, warn() {}, error() {} } };
  await checkLedgers({ db, clock: later, newId: world.accounts.newId, log });
  assert.equal((await summarizeChecks(db)).wrong, 0n);
});
