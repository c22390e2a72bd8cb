import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { createServiceLog } from '../api/service-log.ts';
import { resealStore } from '../keyring/sealed-store.ts';
import type { Database } from '../kit/db.ts';
import { createSealer } from '../kit/seal.ts';
import { GsmaProvider } from '../networks/gsma/gsma-provider.corpus.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { baseUrlProblem } from './base-url.ts';
import { ConnectedAccounts } from './connected-accounts.ts';
import { openCredentials, sealedRailCredentials } from './credentials.ts';
import {
  addRailAccount,
  checkRailAccount,
  disableRailAccount,
  getRailAccount,
  rotateRailAccount,
  type NewRailAccount,
  type RailAccountContext,
  type Rotation,
} from './manage-accounts.ts';
import { listCredentialsOf } from './queries.ts';

const hourMs = 3_600_000;
const sealKey = '1'.repeat(64);
const sealer = createSealer(sealKey);
const provider = new GsmaProvider();
const config = JSON.stringify({ networks: [{ network: 'aps' }] });

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let context: RailAccountContext;
let baseUrl: string;
let changeCount = 0;
let names = 0;

before(async () => {
  baseUrl = await provider.start();
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
});

beforeEach(() => {
  clock = new ManualClock();
  context = { db, clock, sealer, production: false, notifyChanged: () => (changeCount += 1) };
});

after(async () => {
  provider.close();
  await db.close();
  await database.drop();
});

async function add(changes: Partial<NewRailAccount> = {}): Promise<string> {
  names += 1;
  const request: NewRailAccount = {
    ...{ kind: 'gsma', name: `aps-${names}`, testMode: false, businessId: null, baseUrl, position: null },
    fields: { config, 'api-key': 'first' },
    ...changes,
  };
  return (await db.withTransaction((tx) => addRailAccount(tx, context, request))).name;
}

const rotate = (name: string, rotation: Partial<Rotation>) =>
  db.withTransaction((tx) =>
    rotateRailAccount(tx, context, name, { baseUrl: null, fields: {}, overlapMs: 24 * hourMs, ...rotation }),
  );

function connect(changes: Partial<RailAccountContext> = {}) {
  const registry = createNetworkRegistry([]);
  const logged: string[] = [];
  const log = createServiceLog({ level: 'debug', write: (line) => logged.push(line) });
  const accounts = new ConnectedAccounts({ ...context, log, registry, observeCall: () => {}, ...changes });
  return { registry, accounts, logged };
}

test('after a rotation calls use the new secret, and the old one verifies until the overlap ends', async () => {
  const name = await add();
  await rotate(name, { fields: { 'api-key': 'second' }, overlapMs: hourMs });
  const opened = openCredentials(sealer, await listCredentialsOf(db, name));
  const at = (hours: number) => opened.validAt('api-key', new Date(clock.now().getTime() + hours * hourMs));
  assert.equal(opened.current('api-key'), 'second');
  assert.deepEqual([at(0), at(0.9), at(1)], [['second', 'first'], ['second', 'first'], ['second']]);
  await rotate(name, { fields: { 'client-id': 'client' }, overlapMs: 0 });
  const [newest, ...others] = await listCredentialsOf(db, name);
  assert.deepEqual(others, [], 'what verifies nothing any more is not kept');
  assert.ok(newest);
  const stored = openCredentials(sealer, [newest]);
  assert.deepEqual([stored.current('api-key'), stored.current('client-id')], ['second', 'client'], 'the rest stays');
});

test('a rotation that would leave a network is refused, because the account has to finish there', async () => {
  const both = JSON.stringify({ networks: [{ network: 'aps' }, { network: 'qmoney' }] });
  const name = await add({ fields: { config: both } });
  await assert.rejects(rotate(name, { fields: { config } }), /finish what it began on qmoney/);
  await rotate(name, { fields: { amounts: 'bututs' } });
  assert.equal((await getRailAccount(db, name)).settings['amounts'], 'bututs');
});

test('a rotation that would turn off what may be under way at a network is refused, and names it', async () => {
  const configOf = (network: object) => JSON.stringify({ networks: [{ network: 'aps', ...network }] });
  const name = await add({ fields: { config: configOf({ refunds: 'whole' }), 'api-key': 'first' } });
  for (const [left, lost] of [
    [{ refunds: 'whole', collects: false }, /finish its collections on aps/],
    [{ refunds: 'whole', paysOut: false }, /finish its payouts on aps/],
    [{}, /finish its refunds on aps/],
  ] as const) {
    await assert.rejects(rotate(name, { fields: { config: configOf(left) } }), lost);
  }
  await rotate(name, { fields: { config: configOf({ refunds: 'parts' }) } });
});

test('a field with choices takes one of them, and is changed by a rotation', async () => {
  const fields = { 'api-key': 'first', payouts: 'batches' };
  const name = await add({ kind: 'wave', fields });
  const payoutsOf = async () => (await getRailAccount(db, name)).settings['payouts'];
  assert.equal(await payoutsOf(), 'batches');
  await rotate(name, { fields: { payouts: 'single' } });
  assert.equal(await payoutsOf(), 'single');
  await assert.rejects(rotate(name, { fields: { payouts: 'many' } }), /Payouts are single or batches/);
});

test('secrets are resealed under a new key, and open with it', async () => {
  const name = await add();
  const next = createSealer('2'.repeat(64), [sealKey]);
  const { resealed, unreadable } = await resealStore(db, sealedRailCredentials, { sealer: next, onProgress: () => {} });
  assert.deepEqual([resealed > 0, unreadable], [true, []]);
  const stored = await listCredentialsOf(db, name);
  assert.equal(openCredentials(createSealer('2'.repeat(64)), stored).current('api-key'), 'first');
  await resealStore(db, sealedRailCredentials, {
    sealer: createSealer(sealKey, ['2'.repeat(64)]),
    onProgress: () => {},
  });
});

test('without its seal key an account gets new secrets, and is asked for those that it must have', async () => {
  const name = await add();
  const till = await add({ kind: 'wave', fields: { 'api-key': 'first', 'webhook-secret': 'first' } });
  context = { ...context, sealer: createSealer('3'.repeat(64)) };
  await rotate(name, { fields: { 'api-key': 'second' } });
  const opened = openCredentials(context.sealer, await listCredentialsOf(db, name));
  assert.deepEqual(opened.validAt('api-key', clock.now()), ['second'], 'the old one verifies nothing');
  await assert.rejects(rotate(till, { fields: { 'webhook-secret': 'second' } }), /API key is missing/);
});

test('processes see a change by one small statement, and connect only what has changed again', async () => {
  const [name, other] = [await add(), await add()];
  const { accounts, registry } = connect();
  await accounts.load();
  assert.equal(await accounts.hasChanged(), false);
  const connectionOf = (of: string) => accounts.list().find(({ account }) => account.name === of)?.connection;
  const [before, untouched] = [connectionOf(name), connectionOf(other)];
  const countBefore = changeCount;
  await db.withTransaction((tx) => disableRailAccount(tx, context, name));
  assert.equal(changeCount, countBefore + 1, 'the change is announced');
  assert.equal(await accounts.hasChanged(), true);
  await accounts.load();
  assert.notEqual(connectionOf(name), before);
  assert.equal(connectionOf(other), untouched);
  assert.ok(registry.find({ railAccount: name, network: 'aps' }), 'what it began is still finished');
  await accounts.close();
});

test('an account with a wrong seal key or a far address is not connected, and the others are', async () => {
  const name = await add();
  const far = { ...context, production: true };
  const request = { kind: 'gsma', name: 'aps-far', testMode: false, businessId: null, position: null } as const;
  await db.withTransaction((tx) =>
    addRailAccount(tx, far, { ...request, baseUrl: 'https://api.network.example', fields: { config } }),
  );
  const restored = connect();
  await restored.accounts.load();
  assert.equal(
    restored.registry.findByAccount('aps-far'),
    undefined,
    'as a restored production database in development',
  );
  assert.ok(restored.registry.findByAccount(name));
  assert.match(restored.logged.join('\n'), /aps-far.*loopback addresses only/);
  const other = connect({ sealer: createSealer('3'.repeat(64)) });
  await other.accounts.load();
  assert.equal(other.registry.findByAccount(name), undefined);
  assert.match(other.logged.join('\n'), /cannot be opened with the SEAL_KEY/);
  await Promise.all([restored.accounts.close(), other.accounts.close()]);
});

test('an account makes no more look-ups than its budget, and its starts are not counted', async () => {
  provider.keys.add('first');
  const name = await add({ fields: { config, 'api-key': 'first', 'look-ups-per-second': '1' } });
  const { accounts, registry } = connect();
  await accounts.load();
  const collections = registry.find({ railAccount: name, network: 'aps' })?.collections;
  assert.ok(collections);
  const lookUps = Array.from({ length: 8 }, () => collections.lookUp({ reference: 'Shop1234', handles: {} }));
  const states = (await Promise.all(lookUps)).map(({ state }) => state);
  assert.deepEqual([states.filter((state) => state === 'not_found').length, states.at(-1)], [5, 'unknown']);
  await clock.advance(1_000);
  assert.equal((await collections.lookUp({ reference: 'Shop1234', handles: {} })).state, 'not_found');
  await accounts.close();
});

test('a check says in words what is wrong: key, address, or what responds there', async () => {
  const textOf = async (changes: Partial<NewRailAccount>) => (await checkRailAccount(context, await add(changes))).text;
  provider.keys.add('first');
  assert.match(await textOf({}), /accepts the credential/);
  assert.match(await textOf({ fields: { config, 'api-key': 'wrong' } }), /refuses the credential \(HTTP 401\)/);
  assert.match(await textOf({ baseUrl: 'http://127.0.0.1:9' }), /No connection could be made/);
  assert.match(await textOf({ baseUrl: `${baseUrl}/wrong` }), /HTTP 404/);
  const payin = { kind: '54pay', fields: { 'public-key': 'key' } };
  assert.match(await textOf({ ...payin, baseUrl: 'http://127.0.0.1:9' }), /No connection could be made/);
});

test('an address is https in production, and only this machine in development', () => {
  const allowed = (text: string, production: boolean) => baseUrlProblem(text, { production }) === null;
  for (const text of ['http://127.0.0.1:8080', 'http://localhost/api', 'https://[::1]:443', 'http://127.1.2.3']) {
    assert.equal(allowed(text, false), true, text);
  }
  const others = [
    'http://127.0.0.1.example.com',
    'https://api.example.com',
    'http://10.0.0.1',
    'http://localhost.example',
  ];
  for (const text of others) assert.equal(allowed(text, false), false, text);
  assert.equal(allowed('https://api.example.com/v1', true), true);
  for (const text of [
    'http://api.example.com',
    'ftp://x',
    'text',
    'https://user:word@api.example.com',
    'https://x/?a=1',
  ]) {
    assert.equal(allowed(text, true), false, text);
  }
});
