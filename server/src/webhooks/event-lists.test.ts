import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { genericPlans } from '../../../test/harness/explain.ts';
import { withAdminClient } from '../database/admin-client.ts';
import type { Queryable } from '../kit/db.ts';
import { ListReader } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import { listEndpointHealth } from './queries/endpoint-health.ts';
import {
  listDeliveriesOfEvents,
  listEventRows,
  listTriesOfDeliveries,
  type EventFilter,
} from './queries/event-lists.ts';
import { listEventsToResend, listEventsUnderWay, listMissedEvents, upsertResends } from './queries/resends.ts';

// 100,000 events of one merchant, each sent to one endpoint; every fiftieth delivery failed, as many were kept.

const merchantId = '01a1f8ac-4b37-7417-9fed-000000000001';
const endpointId = '01a1f8ac-4b37-7417-9fed-000000000002';
const count = 100_000;
const idOf = `(lpad(to_hex(1793000000000 + n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`;
const timeOf = `to_timestamp(1793000000 + n)`;

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  await withAdminClient(database.adminUrl, async (client) => {
    await client.query('SET session_replication_role = replica');
    const endpoint = `INSERT INTO webhook_endpoints (merchant_id, id, url, description, status, is_default, secret,
      created_at, updated_at) VALUES ($1, $2, 'http://localhost/', '', 'enabled', true, '', now(), now())`;
    await client.query(endpoint, [merchantId, endpointId]);
    await client.query(
      `INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, created_at)
       SELECT $1, ${idOf}, CASE n % 20 WHEN 0 THEN 'charge.failed' ELSE 'charge.succeeded' END,
              md5((n / 4)::text)::uuid, n % 4, '{}', ${timeOf}
       FROM generate_series(1, ${count}) AS n`,
      [merchantId],
    );
    await client.query(
      `INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, status, attempts, next_attempt_at, created_at)
       SELECT $1, ${idOf}, ${idOf}, $2,
              CASE n % 50 WHEN 0 THEN 'failed' WHEN 1 THEN 'kept' WHEN 2 THEN 'pending' ELSE 'delivered' END, 1,
              CASE n % 50 WHEN 2 THEN ${timeOf} END, ${timeOf}
       FROM generate_series(1, ${count}) AS n`,
      [merchantId, endpointId],
    );
    await client.query(
      `INSERT INTO webhook_attempts (merchant_id, delivery_id, attempt, status_code, duration_ms, response, created_at)
       SELECT $1, ${idOf}, 1, 200, 10, '', ${timeOf} FROM generate_series(1, ${count}) AS n`,
      [merchantId],
    );
    await client.query('ANALYZE events, webhook_deliveries, webhook_attempts, webhook_endpoints');
  });
});
after(() => database.drop());

/** Of the page and of the count. */
function planOfList(filter: EventFilter, page: PageRequest = firstPage): Promise<string> {
  return planOf((db) => listEventRows(new ListReader(db), merchantId, page, filter));
}

async function planOf(run: (db: Queryable) => Promise<unknown>): Promise<string> {
  return (await genericPlans(database, run)).join('\n');
}

const firstPage = { before: null, offset: 0, limit: 10 };
const id = '01a17a1d-4b37-7417-9fed-11d78420f713';
const from = new Date('2026-11-01T00:00:00Z');

test('a page of events is read from an index in its order, whatever the filters', async () => {
  const filters: [EventFilter, RegExp][] = [
    [{}, /Index (Only )?Scan Backward using events_pkey/],
    [{ from, to: from }, /events_pkey/],
    [{ kind: 'charge.failed' }, /Index (Only )?Scan Backward using events_kind_idx/],
    [{ kind: 'charge.failed', from }, /events_kind_idx/],
    [{ endpointId }, /Backward using events_pkey[^]*webhook_deliveries_target_key/],
    [{ status: 'delivered' }, /Backward using events_pkey[^]*webhook_deliveries_target_key/],
    [{ endpointId, status: 'delivered' }, /Backward using events_pkey[^]*webhook_deliveries_target_key/],
    [{ endpointId, status: 'failed' }, /Backward using webhook_deliveries_missed_idx/],
    [{ endpointId, status: 'kept', from }, /Backward using webhook_deliveries_missed_idx/],
  ];
  for (const [filter, index] of filters) {
    for (const page of [firstPage, { ...firstPage, before: id }]) {
      const plan = await planOfList(filter, page);
      assert.match(plan, index);
      assert.doesNotMatch(plan, /Seq Scan|Bitmap|Sort|Hash/, plan);
    }
  }
  // An object has a handful of events: they are read and sorted.
  const ofObject = await planOfList({ objectId: id });
  assert.match(ofObject, /events_sequence_key/);
});

test('the events after an event are read forwards from there', async () => {
  const plan = await planOfList({ after: id });
  assert.match(plan, /Index Scan using events_pkey/);
  assert.doesNotMatch(plan, /Seq Scan|Sort/, plan);
});

test('deliveries, attempts and health are found by their indexes', async () => {
  const plan = await planOf(async (db) => {
    await listDeliveriesOfEvents(db, merchantId, [id]);
    await listTriesOfDeliveries(db, merchantId, [id]);
    await listEndpointHealth(db, merchantId, [endpointId]);
  });
  for (const index of ['target_key', 'own_due_idx', 'missed_idx']) {
    assert.ok(plan.includes(`webhook_deliveries_${index}`), `${index} is not in\n${plan}`);
  }
  assert.match(plan, /webhook_attempts_pkey/);
  assert.doesNotMatch(plan, /Seq Scan on webhook_(deliveries|attempts)/, plan);
});

test('events to resend are found oldest first, and each delivery by its key', async () => {
  const filter = { endpointId, from, kinds: ['charge.failed'] } as const;
  const missed = await planOf((db) => listMissedEvents(db, merchantId, filter, 10_001));
  assert.match(missed, /webhook_deliveries_missed_idx/);
  const all = await planOf((db) => listEventsToResend(db, merchantId, filter, 10_001));
  assert.match(all, /events_(pkey|kind_idx)/);
  const resends = [{ id, eventId: id, endpointId, callbackUrl: 'x' }];
  const made = await planOf(async (db) => {
    for (const statement of upsertResends(merchantId, resends, { now: from, states: ['kept'] }))
      await db.run(statement);
  });
  assert.match(made, /Conflict Arbiter Indexes: webhook_deliveries_target_key/);
  const underWay = await planOf((db) => listEventsUnderWay(db, merchantId, { endpointId, eventIds: [id], now: from }));
  for (const plan of [missed, all, made, underWay]) assert.doesNotMatch(plan, /Seq Scan/, plan);
});
