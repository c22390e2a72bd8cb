import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { blocksRead, genericPlans } from '../../../test/harness/explain.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { addMs, systemClock } from '../kit/clock.ts';
import type { Database, Queryable } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import {
  claimDeliveries,
  claimRowsMax,
  listDueEndpointQueues,
  markAttemptsFailed,
  markDelivered,
  putBackDeliveries,
} from './queries/deliveries.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const random = seededRandom('claim plans');
const newId = (): string => uuidV7(systemClock, random);
const merchantId = newId();
const endpointId = newId();
const due = { merchantId, endpointId, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 8 };
const toCallbacks = { ...due, endpointId: null };

let database: TestDatabase;
let db: Database;
before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax: 2 });
  await withAdminClient(database.adminUrl, async (client) => {
    // The rows that they refer to do not matter here.
    await client.query("SET session_replication_role = 'replica'");
    await client.query(
      `INSERT INTO webhook_endpoints (merchant_id, id, url, description, status, is_default, secret, created_at, updated_at)
       SELECT CASE n WHEN 1 THEN $1 ELSE md5('merchant ' || n)::uuid END, CASE n WHEN 1 THEN $2 ELSE md5('endpoint ' || n)::uuid END,
              'http://localhost/', '', 'enabled', true, '', $3, $3
       FROM generate_series(1, 1000) AS n`,
      [merchantId, endpointId, now],
    );
    await client.query(
      `INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, created_at)
       SELECT $1, md5(n::text)::uuid, 'charge.succeeded', md5(n::text)::uuid, 1, '{}', $2
       FROM generate_series(1, 110000) AS n`,
      [merchantId, now],
    );
    // Every eleventh to a callback URL.
    await client.query(
      `INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
         next_attempt_at, created_at)
       SELECT $1, md5(n::text)::uuid, md5(n::text)::uuid, $2, CASE WHEN n % 11 = 0 THEN 'https://example.gm/' END, 'pending',
              0, $3::timestamptz - n * interval '1 ms', $3
       FROM generate_series(1, 110000) AS n`,
      [merchantId, endpointId, now],
    );
    await client.query('ANALYZE webhook_endpoints, events, webhook_deliveries');
  });
});
after(async () => {
  await db.close();
  await database.drop();
});

test('a claim reads only the rows it returns, with 100,000 pending and whatever the plan', async () => {
  const plans = await genericPlans(database, async (planned) => {
    await claimDeliveries(planned, due);
    await claimDeliveries(planned, toCallbacks);
  });
  assert.equal(plans.length, 2);
  for (const plan of plans) {
    assert.match(plan, /Index Scan using webhook_deliveries_(own|callback)_due_idx/);
    assert.match(plan, /Index Cond: .*next_attempt_at >= /, 'it begins behind what was claimed');
    assert.match(plan, /Index Scan using webhook_deliveries_pkey/);
    assert.match(plan, /Index Scan using events_pkey/);
    assert.doesNotMatch(plan, /Seq Scan|Bitmap|Sort|Hash/, plan);
  }
  for (const rowsMax of [1, claimRowsMax]) {
    assert.equal((await claimDeliveries(db, { ...due, rowsMax })).length, rowsMax);
    assert.equal((await claimDeliveries(db, { ...toCallbacks, rowsMax })).length, rowsMax);
  }
  await assert.rejects(async () => claimDeliveries(db, { ...due, rowsMax: claimRowsMax + 1 }));
});

test('polling reads the first row of each endpoint queue, however long it is', async () => {
  const plans = await genericPlans(database, async (planned) => {
    await listDueEndpointQueues(planned, { now, from: now, isWhole: false, part: 1 });
  });
  for (const plan of plans) {
    assert.match(
      plan,
      /Index Only Scan using webhook_deliveries_own_due_idx|Index Scan using webhook_deliveries_own_due_idx/,
    );
    assert.match(plan, /Index Cond: .*next_attempt_at >= /, 'it begins behind what has been due before');
    assert.doesNotMatch(plan, /Seq Scan on webhook_deliveries|Bitmap|Sort/, plan);
  }
});

test('beside an open snapshot, a claim does not read the deliveries that are done', async () => {
  const from = addMs(now, -60_000);
  const read = await withAdminClient(database.adminUrl, (snapshot) =>
    withAdminClient(database.adminUrl, async (client) => {
      await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await snapshot.query('SELECT FROM merchants');
      await client.query(
        `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL
         WHERE merchant_id = $1 AND next_attempt_at < $2`,
        [merchantId, from],
      );
      return [await blocksRead(client, claimFrom()), await blocksRead(client, claimFrom(from))];
    }),
  );
  const [fromStart = 0, fromFloor = 0] = read;
  assert.ok(fromFloor * 4 < fromStart, `${fromStart} and ${fromFloor} blocks`);
});

const claimFrom = (from?: Date) => (planned: Queryable) => claimDeliveries(planned, { ...due, ...(from && { from }) });

test('outcomes are written by the keys of their deliveries, however many deliveries there are', async () => {
  const keys = Array.from({ length: 128 }, () => ({ id: newId(), attempt: 1n }));
  const plans = await genericPlans(database, async (planned) => {
    await planned.run(
      inArrays(
        markDelivered(
          merchantId,
          keys.map((key) => ({ ...key, deliveredAt: now })),
        ),
      ),
    );
    const failed = keys.map((key) => ({ ...key, status: 'failed' as const, nextAttemptAt: now }));
    await planned.run(inArrays(markAttemptsFailed(merchantId, failed)));
    await planned.run(inArrays(putBackDeliveries(merchantId, keys, now)));
  });
  assert.equal(plans.length, 3);
  for (const plan of plans) {
    assert.match(plan, /Index Scan using webhook_deliveries_pkey/);
    assert.doesNotMatch(plan, /Seq Scan|Bitmap|Sort|Hash/, plan);
  }
});

/** Arrays as the server reads them from text. */
function inArrays<Planned extends { values: readonly unknown[] }>(statement: Planned): Planned {
  const inText = (value: unknown): unknown =>
    Array.isArray(value)
      ? `{${value.map((one) => (one instanceof Date ? one.toISOString() : String(one))).join(',')}}`
      : value;
  return { ...statement, values: statement.values.map(inText) };
}
