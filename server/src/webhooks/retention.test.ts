import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { idSql } from '../../../test/harness/ids.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { addMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { createDefaultEndpoint } from './manage-endpoints.ts';
import {
  deleteDeliveriesOfEvents,
  deleteEvents,
  deleteOldAttempts,
  listMerchantsWithOldAttempts,
  listMerchantsWithOldEvents,
  lockDeliveriesOfEvents,
  lockOldEvents,
} from './queries/retention.ts';
import { purgeAttempts, purgeEvents } from './retention.ts';
import {
  answering,
  createDeliveryWorld,
  listAttempts,
  listDeliveries,
  type DeliveryWorld,
} from './webhook-world.corpus.ts';

const dayMs = 24 * 60 * 60 * 1_000;

let world: DeliveryWorld;

before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());

async function eventIds(): Promise<string[]> {
  const rows = await world.db.rows<{ id: string }>({
    name: 'test_events',
    text: 'SELECT id FROM events WHERE merchant_id = $1 ORDER BY id',
    values: [world.caller.merchantId],
  });
  return rows.map(({ id }) => id);
}

async function deliveredEvents(): Promise<string[]> {
  return (await listDeliveries(world)).map(({ eventId }) => eventId);
}

async function setStatus(eventId: string, status: string): Promise<void> {
  await world.db.run({
    name: 'test_set_status',
    text: `UPDATE webhook_deliveries SET status = $3, next_attempt_at = CASE WHEN $3 = 'pending' THEN created_at END
           WHERE merchant_id = $1 AND event_id = $2`,
    values: [world.caller.merchantId, eventId, status],
  });
}

test('an event is purged after thirteen months with its deliveries, however they ended, and not earlier', async () => {
  const endpoint = await world.endpointAt();
  const ended: string[] = [];
  for (const status of ['delivered', 'failed', 'kept']) {
    const eventId = await world.append();
    await world.deliver();
    await setStatus(eventId, status);
    ended.push(eventId);
  }
  await world.clock.advance(dayMs);
  const younger = await world.append();
  await world.deliver();
  await world.clock.advance(398 * dayMs);
  assert.equal(await purgeEvents(world), 0, 'the day before');
  await world.clock.advance(dayMs);
  assert.equal(await purgeEvents(world), 0, 'thirteen months old to the millisecond');
  await world.clock.advance(1);
  assert.equal(await purgeEvents(world), ended.length);
  assert.deepEqual(await eventIds(), [younger]);
  assert.deepEqual(await deliveredEvents(), [younger]);
  assert.equal(await purgeEvents(world), 0);
  await world.clock.advance(dayMs);
  assert.equal(await purgeEvents(world), 1, 'the day after');
  await world.retire(endpoint.id);
});

test('an event still to be delivered stays, and does not block the purge of younger ones', async () => {
  const endpoint = await world.endpointAt();
  const pending = await world.append();
  const ended = await world.append();
  await setStatus(ended, 'delivered');
  await world.clock.advance(401 * dayMs);
  assert.equal(await purgeEvents(world), 1);
  assert.deepEqual(await eventIds(), [pending]);
  assert.deepEqual(await deliveredEvents(), [pending]);
  await setStatus(pending, 'delivered');
  assert.equal(await purgeEvents(world), 1);
  await world.retire(endpoint.id);
});

test('an event that is resent while it is being purged stays whole', async () => {
  const endpoint = await world.endpointAt();
  const eventId = await world.append();
  await setStatus(eventId, 'failed');
  await world.clock.advance(401 * dayMs);
  const { caller } = world;
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: isResent, resolve: resent } = Promise.withResolvers<void>();
  const resending = world.change(async (tx) => {
    await tx.run({
      name: 'test_resend',
      text: `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = $3
             WHERE merchant_id = $1 AND event_id = $2`,
      values: [caller.merchantId, eventId, world.clock.now()],
    });
    resent();
    await mayCommit;
  });
  await isResent;
  const purging = purgeEvents(world);
  await eventually('the purge waits for the resend', async () => {
    const waiting = await world.db.row({
      name: 'test_waiting',
      text: `SELECT pid FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'`,
      values: [],
    });
    return waiting !== undefined;
  });
  commit();
  await resending;
  assert.equal(await purging, 0);
  assert.deepEqual(await eventIds(), [eventId]);
  await world.deliver();
  assert.equal((await world.deliveryOf(eventId)).status, 'delivered');
  assert.equal(await purgeEvents(world), 1);
  await world.retire(endpoint.id);
});

test('attempts are retained for thirty days, whatever the age of their event; the delivery stays', async () => {
  // Attempts of the tests before.
  await world.clock.advance(31 * dayMs);
  await purgeAttempts(world);
  const endpoint = await world.endpointAt(answering(500));
  const eventId = await world.append();
  await world.deliver();
  const { id } = await world.deliveryOf(eventId);
  await world.clock.advance(20 * dayMs);
  await world.deliver();
  const attempts = async (): Promise<bigint[]> => (await listAttempts(world, id)).map(({ attempt }) => attempt);
  assert.deepEqual(await attempts(), [1n, 2n]);
  await world.clock.advance(10 * dayMs);
  assert.equal(await purgeAttempts(world), 0);
  await world.clock.advance(1);
  assert.equal(await purgeAttempts(world), 1);
  assert.deepEqual(await attempts(), [2n]);
  await world.clock.advance(21 * dayMs);
  assert.equal(await purgeAttempts(world), 1);
  assert.deepEqual(await attempts(), []);
  assert.equal((await world.deliveryOf(eventId)).attempts, 2n);
  await world.retire(endpoint.id);
});

test('a batch is bounded, and found and deleted by keys alone, however much is retained', async () => {
  const database = await createTestDatabase();
  const db = openTestDatabase(database, { connectionsMax: 2 });
  const old = { clock: world.clock, before: addMs(world.clock.now(), -500 * dayMs) };
  try {
    const merchants = await db.withTransaction((tx) => createBusiness(tx, world.context, { name: 'Shop' }));
    await db.withTransaction(async (tx) => createDefaultEndpoint(tx, world.context, merchants.test.id));
    await fill(database, merchants.test.id, { at: old.before, count: 1_000 });
    await fill(database, merchants.test.id, { at: world.clock.now(), count: 100_000 });
    const ids = [firstIdAt(old.before)];
    const attempts = { before: old.before, beforeDeliveryId: firstIdAt(old.before) };
    const plans = await genericPlans(database, async (planned) => {
      await listMerchantsWithOldEvents(planned, firstIdAt(old.before));
      await lockOldEvents(planned, merchants.test.id, firstIdAt(old.before));
      await lockDeliveriesOfEvents(planned, merchants.test.id, ids);
      await deleteDeliveriesOfEvents(planned, merchants.test.id, ids);
      await deleteEvents(planned, merchants.test.id, ids);
      await listMerchantsWithOldAttempts(planned, attempts);
      await deleteOldAttempts(planned, merchants.test.id, attempts);
    });
    assert.equal(plans.length, 7);
    for (const plan of plans) {
      assert.doesNotMatch(plan, /Seq Scan on (events|webhook_|outbox)/, plan);
      // A bitmap serves the few rows of a list; elsewhere it would read everything that is old.
      if (!plan.includes('ANY')) assert.doesNotMatch(plan, /Bitmap|Sort/, plan);
    }
    const counts = [await purgeEvents({ db, clock: world.clock }), await purgeAttempts({ db, clock: world.clock })];
    assert.deepEqual(counts, [200, 500]);
  } finally {
    await db.close();
    await database.drop();
  }
});

/** So many events of one moment, each with a delivery that has ended and its attempt. */
function fill(
  { adminUrl }: TestDatabase,
  merchantId: string,
  { at, count }: { at: Date; count: number },
): Promise<unknown> {
  const id = idSql('$2::timestamptz', 'n');
  const tables = [
    `events (merchant_id, id, kind, object_id, sequence, record, created_at)
     SELECT $1, ${id}, 'charge.succeeded', ${id}, 1, '{}', $2`,
    `webhook_deliveries (merchant_id, id, event_id, endpoint_id, status, attempts, created_at)
     SELECT $1, ${id}, ${id}, (SELECT id FROM webhook_endpoints WHERE merchant_id = $1), 'delivered', 1, $2`,
    `webhook_attempts (merchant_id, delivery_id, attempt, duration_ms, response, created_at)
     SELECT $1, ${id}, 1, 20, 'ok', $2`,
  ];
  return withAdminClient(adminUrl, async (client) => {
    for (const table of tables) {
      await client.query(`INSERT INTO ${table} FROM generate_series(1, $3::integer) AS n`, [merchantId, at, count]);
    }
    await client.query('VACUUM ANALYZE events, webhook_deliveries, webhook_attempts');
  });
}
