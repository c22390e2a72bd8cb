import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { effort } from '../../../test/harness/effort.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { idSql } from '../../../test/harness/ids.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import type { Database } from '../kit/db.ts';
import { firstIdAt, uuidV7 } from '../kit/ids.ts';
import { createServiceLog } from '../api/service-log.ts';
import { seededRandom } from '../kit/random.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';
import type { ProviderNotification, CallbackReading, RawCallback } from './contract.ts';
import {
  claimCallbacks,
  createCallbackHandler,
  hasDueCallbacks,
  purgeInbox,
  receiveCallback,
  type NotificationOutcome,
  type ReceivedCallback,
  type ReceivingContext,
} from './inbox.ts';
import { deleteHandledInboxRows } from './queries.ts';
import { createNetworkRegistry } from './registry.ts';

let database: TestDatabase;
let db: Database;
let clock: ManualClock;
let context: ReceivingContext;
let logged: string[];

/** Accepts callbacks that carry the right word, and reads one reference from each line. */
class TrustingNetwork extends ScriptedNetwork {
  word = 'friend';

  override readCallback({ headers, body }: RawCallback): CallbackReading {
    if (headers['x-word'] !== this.word) return { accepted: false, reason: 'signature' };
    const references = Buffer.from(body).toString().trim().split('\n');
    const response = { state: 'processing' } as const;
    return {
      accepted: true,
      notifications: references.map((reference) => ({ operation: 'collection', reference, response })),
    };
  }
}

let network: TrustingNetwork;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 4 });
});

beforeEach(async () => {
  await withAdminClient(database.adminUrl, (client) => client.query('TRUNCATE network_inbox'));
  clock = new ManualClock();
  const random = seededRandom('inbox');
  logged = [];
  network = new TrustingNetwork('wave');
  context = {
    db,
    clock,
    newId: () => uuidV7(clock, random),
    networks: createNetworkRegistry([network]),
    isOurs: async () => true,
    log: createServiceLog({ level: 'info', write: (line) => logged.push(line) }),
  };
});

after(async () => {
  await db.close();
  await database.drop();
});

function receive(text: string, word = 'friend', railAccount = 'rail-wave'): Promise<ReceivedCallback> {
  return receiveCallback(context, { railAccount, headers: { 'x-word': word }, body: Buffer.from(text) });
}

interface StoredRow {
  shard: bigint;
  connector: string;
  body: Buffer;
  dueAt: Date | null;
  handledAt: Date | null;
  outcome: string | null;
  attempts: bigint;
}

function stored(): Promise<StoredRow[]> {
  return db.rows<StoredRow>({
    name: 'test_inbox',
    text: `SELECT shard, connector, body, due_at AS "dueAt", handled_at AS "handledAt", outcome, attempts
           FROM network_inbox ORDER BY id`,
    values: [],
  });
}

/** Handles everything that is due; returns the references in the order in which they were handled. */
async function workAll(
  handle: (notification: ProviderNotification) => Promise<NotificationOutcome> | NotificationOutcome,
): Promise<string[]> {
  const handled: string[] = [];
  const handleRow = createCallbackHandler(context, async (connectorName, notification) => {
    assert.equal(connectorName, 'rail-wave');
    handled.push(notification.reference);
    return handle(notification);
  });
  await Promise.all((await claimCallbacks(context, 128)).map(handleRow));
  return handled;
}

const apply = (): NotificationOutcome => 'applied';

test('a callback that verifies is stored byte for byte before it is answered, and handled once', async () => {
  const text = ' Shop1234a\nŊ \n';
  const received = await receive(text);
  assert.ok(received.accepted);
  const [row] = await stored();
  assert.ok(row);
  assert.deepEqual(row.body, Buffer.from(text));
  assert.deepEqual([row.connector, row.shard], ['rail-wave', received.shard]);
  assert.deepEqual(await workAll(apply), ['Shop1234a']);
  assert.deepEqual(await workAll(apply), []);
  const [done] = await stored();
  assert.deepEqual([done?.outcome, done?.dueAt, done?.handledAt], ['applied', null, clock.now()]);
});

test('a callback that does not verify, or names no network, is neither stored nor handled', async () => {
  assert.deepEqual(await receive('Shop1234a', 'stranger'), { accepted: false, reason: 'signature' });
  assert.deepEqual(await receive('Shop1234a', 'friend', 'wave'), { accepted: false, reason: 'connector' });
  assert.deepEqual(await receive('Shop1234a', 'friend', '__proto__'), { accepted: false, reason: 'connector' });
  assert.deepEqual(await stored(), []);
});

test('all notifications of one callback are handled', async () => {
  await receive('Shop1234a\nShop1234b');
  assert.deepEqual(await workAll(apply), ['Shop1234a', 'Shop1234b']);
});

test('notifications of one reference stay in one shard; many references spread over the shards', async () => {
  const shardCount = new Set<bigint>();
  for (let index = 0; index < 100; index += 1) {
    const [one, again] = [await receive(`Shop1234ref${index}`), await receive(`Shop1234ref${index}`)];
    assert.ok(one.accepted && again.accepted);
    assert.equal(one.shard, again.shard);
    shardCount.add(one.shard);
  }
  assert.ok(shardCount.size > 10, `${shardCount.size} shards`);
});

test('a notification of an unknown reference is retried for some minutes, then stored and given up', async () => {
  await receive('Shop1234nobody');
  const unmatched = (): NotificationOutcome => 'unmatched';
  for (const waitMs of [0, 1_000, 5_000, 30_000, 300_000]) {
    await clock.advance(Math.max(0, waitMs - 1));
    if (waitMs > 0) assert.deepEqual(await workAll(unmatched), []);
    await clock.advance(waitMs > 0 ? 1 : 0);
    assert.deepEqual(await workAll(unmatched), ['Shop1234nobody']);
  }
  const [row] = await stored();
  assert.deepEqual([row?.outcome, row?.dueAt, row?.attempts], ['unmatched', null, 5n]);
});

test('a notification that arrives before its charge finds it on a later try', async () => {
  await receive('Shop1234early');
  await workAll(() => 'unmatched');
  await clock.advance(1_000);
  assert.deepEqual(await workAll(apply), ['Shop1234early']);
  const [row] = await stored();
  assert.deepEqual([row?.outcome, row?.dueAt], ['applied', null]);
});

test('a notification that fails is retried until it succeeds, is logged, and blocks no other', async () => {
  // One after the other.
  for (let copy = 0; copy < 3; copy += 1) await receive('Shop1234a');
  let calls = 0;
  const failFirst = (): NotificationOutcome => {
    calls += 1;
    if (calls === 1) throw new Error('our mistake with 7001234');
    return 'applied';
  };
  assert.equal((await workAll(failFirst)).length, 3);
  assert.deepEqual(
    (await stored()).map(({ outcome }) => outcome),
    ['failed', 'applied', 'applied'],
  );
  assert.match(logged.join(), /handling a callback failed/);
  assert.doesNotMatch(logged.join(), /7001234/);
  await clock.advance(1_000);
  assert.equal((await workAll(apply)).length, 1);
  assert.deepEqual(
    (await stored()).map(({ outcome }) => outcome),
    ['applied', 'applied', 'applied'],
  );
});

test('a notification that fails for a day is retained for a person', async () => {
  await receive('Shop1234a');
  const fail = (): NotificationOutcome => {
    throw new Error('our mistake');
  };
  let tries = 0;
  for (let hour = 0; hour <= 30; hour += 1) {
    tries += (await workAll(fail)).length;
    await clock.advance(60 * 60_000);
  }
  const [row] = await stored();
  assert.deepEqual([row?.outcome, row?.dueAt], ['failed', null]);
  assert.equal(tries, 25, 'once an hour for a day');
});

test('a callback claimed by a worker that died is claimed again when its lease ends', async () => {
  await receive('Shop1234a');
  const died = Promise.withResolvers<NotificationOutcome>();
  const dying = workAll(() => died.promise);
  await eventually('it is claimed', async () => !(await hasDueCallbacks(context)));
  await clock.advance(60_000);
  assert.deepEqual(await workAll(apply), ['Shop1234a']);
  died.resolve('applied');
  await dying;
});

test('two workers share the due callbacks and never claim the same one', async () => {
  for (let copy = 0; copy < 60; copy += 1) await receive(`Shop1234ref${copy}`);
  const claims = await Promise.all([claimCallbacks(context, 50), claimCallbacks(context, 50)]);
  claims.push(await claimCallbacks(context, 50));
  assert.equal(new Set(claims.flat().map(({ id }) => id)).size, 60);
  assert.ok((await stored()).every(({ attempts }) => attempts === 1n));
});

test('callbacks of one reference are handled one after the other in their order, others meanwhile', async () => {
  const first = Promise.withResolvers<NotificationOutcome>();
  const handled: string[] = [];
  for (const reference of ['Shop1234a', 'Shop1234b', 'Shop1234a']) {
    await receive(reference);
    await clock.advance(1);
  }
  const done = workAll(({ reference }) => {
    handled.push(reference);
    return handled.length === 1 ? first.promise : 'applied';
  });
  await eventually('the other is handled', async () => (await stored())[1]?.outcome === 'applied');
  assert.deepEqual(handled, ['Shop1234a', 'Shop1234b']);
  first.resolve('applied');
  assert.deepEqual(await done, ['Shop1234a', 'Shop1234b', 'Shop1234a']);
});

test('a callback is deleted thirteen months after it was handled; one never handled is retained', async () => {
  const dayMs = 24 * 60 * 60 * 1_000;
  await receive('Shop1234a');
  await clock.advance(dayMs);
  assert.deepEqual(await workAll(apply), ['Shop1234a'], 'a day after it was received');
  await receive('Shop1234b');
  await clock.advance(400 * dayMs);
  assert.equal(await purgeInbox(context), 0);
  await clock.advance(1);
  assert.equal(await purgeInbox(context), 1);
  assert.equal((await stored()).length, 1);
  assert.deepEqual(await workAll(apply), ['Shop1234b']);

  await withAdminClient(database.adminUrl, async (client) => {
    const id = idSql(`timestamptz '2026-11-20'`, 'n');
    await client.query(
      `INSERT INTO network_inbox (shard, id, connector, body, notifications, attempts, received_at, handled_at)
       SELECT 3, ${id}, 'rail-wave', '', '[]', 1, $1, $1 FROM generate_series(1, 100000) AS n`,
      [new Date('2026-11-20')],
    );
    await client.query('VACUUM ANALYZE network_inbox');
  });
  const purge = { shard: 3n, beforeId: firstIdAt(clock.now()), handledBefore: clock.now() };
  const plans = await genericPlans(database, (requested) => deleteHandledInboxRows(requested, purge));
  assert.equal(plans.length, 1);
  assert.doesNotMatch(plans[0] ?? '', /Seq Scan|Bitmap|Sort/);
  assert.equal(await purgeInbox(context), 500);
  for (const plan of await genericPlans(database, async (requested) => {
    const requestedContext = { ...context, db: requested };
    await claimCallbacks(requestedContext, 50);
    await hasDueCallbacks(requestedContext);
  })) {
    assert.match(plan, /network_inbox_due_idx/);
    assert.doesNotMatch(plan, /Seq Scan on network_inbox/, 'handled callbacks are not read');
  }
});

test('10,000 hints about one reference are one row, and bring its look-up forward ever less often', async () => {
  const hint: ProviderNotification = { operation: 'payout', reference: 'Shop1234a', response: null };
  network.readCallback = () => ({ accepted: true, notifications: [hint] });
  const count = effort({ usual: 300, long: 10_000 });
  for (let sent = 0; sent < count; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => receive(`{"copy":${sent + index}}`)));
  }
  assert.equal((await stored()).length, 1);
  assert.deepEqual(await workAll(apply), ['Shop1234a']);
  let handled = 0;
  for (let sent = 0; sent < 60; sent += 1) {
    await receive('{}');
    handled += (await workAll(apply)).length;
  }
  assert.ok(handled >= 19 && handled <= 21, `${handled} at once`);
  await clock.advance(60_000);
  assert.equal((await workAll(apply)).length, 1, 'and one a minute later');
  const [row] = await stored();
  assert.deepEqual([row?.outcome, row?.dueAt], ['applied', null]);
  await clock.advance(24 * 60 * 60_000);
  await receive('{}');
  assert.deepEqual([(await workAll(apply)).length, (await stored()).length], [1, 2], 'another day is another row');
});

test('a hint that arrives while an earlier one is handled is not lost', async () => {
  const hint: ProviderNotification = { operation: 'payout', reference: 'Shop1234a', response: null };
  network.readCallback = () => ({ accepted: true, notifications: [hint] });
  await receive('{}');
  const handled = await workAll(async (): Promise<NotificationOutcome> => {
    await receive('{}');
    return 'applied';
  });
  assert.equal(handled.length, 1);
  assert.deepEqual(await workAll(apply), ['Shop1234a']);
  assert.deepEqual(await workAll(apply), []);
});

test('a hint about an unknown reference is deleted as soon as it is handled', async () => {
  network.readCallback = ({ body }) => {
    const reference = Buffer.from(body).toString();
    return { accepted: true, notifications: [{ operation: 'collection', reference, response: null }] };
  };
  for (let sent = 0; sent < 200; sent += 1) await receive(`Shop1234ref${sent}`);
  while (await hasDueCallbacks(context)) await workAll(() => 'dropped');
  assert.deepEqual(await stored(), []);
});

test('a callback that verified when it was received is handled after the network changed its secret', async () => {
  await receive('Shop1234a');
  network.word = 'another';
  assert.deepEqual(await workAll(apply), ['Shop1234a']);
});

test('notifications are handled as they were parsed, their amounts exactly', async () => {
  const providerTransaction = {
    transactionId: 'T1',
    networkReference: 'N1',
    amountMinor: 900_719_925_474_099_312_345n,
    currency: 'GMD',
    networkFeeMinor: 0n,
    payerNumber: null,
  };
  const notifications: ProviderNotification[] = [
    { operation: 'collection', reference: 'Shop1234a', response: { state: 'succeeded', providerTransaction } },
    { operation: 'payout', reference: 'Shop1234b', response: { state: 'unknown', detail: '{"bigint":"1"}' } },
  ];
  network.readCallback = () => ({ accepted: true, notifications });
  await receive('any body');
  const handled: ProviderNotification[] = [];
  await workAll((one) => {
    handled.push(one);
    return 'applied';
  });
  assert.deepEqual(handled, notifications);
});
