import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { subscribedKind } from './add-subscribers.ts';

export interface DeliveryBacklog {
  /** How many, the same number for each merchant. */
  deliveries: number;
  /** The merchants, each with one endpoint. */
  merchantIds: readonly string[];
  /** From when on, in Unix milliseconds, how many become due each second, a hundred of one merchant at a time. Without it all are due. */
  becomeDue?: { fromMs: number; perSecond: number };
}

/**
 * Events with deliveries that are due, written as the owner of the tables: to a worker they appear all at once, with
 * the commit. One has become due after the other, in the order of the ids, at turns between the merchants.
 */
export async function fillDeliveries(
  adminUrl: string,
  { deliveries, merchantIds, becomeDue }: DeliveryBacklog,
): Promise<void> {
  const lastAtMs = systemClock.now().getTime();
  await withAdminClient(adminUrl, async (client) => {
    await client.query('BEGIN');
    // The rows satisfy the foreign keys by construction; checking them takes twice as long for a million rows.
    await client.query('SET LOCAL session_replication_role = replica');
    const values = [deliveries, lastAtMs, [...merchantIds]];
    await client.query(insertEvents, [...values, record()]);
    await client.query(insertDeliveries, [...values, becomeDue?.perSecond, becomeDue?.fromMs]);
    await client.query('COMMIT');
  });
}

/** As autovacuum would within minutes. */
export async function vacuumDeliveries(adminUrl: string): Promise<void> {
  await withAdminClient(adminUrl, async (client) => {
    for (const table of ['events', 'webhook_deliveries', 'webhook_attempts']) {
      await client.query(`VACUUM ANALYZE ${table}`);
    }
  });
}

/** About as long as the body of the load's own events. */
function record(): string {
  return JSON.stringify({
    id: '0193b7a0-0000-7000-8000-000000000001',
    name: 'Awa Ceesay 17',
    email: null,
    phone: null,
    metadata: { order: 'KB-2026-000481', basket: 'exercise books, 12; ballpoint pens, 3', branch: 'Kairaba Avenue' },
    test_mode: true,
    created_at: '2026-11-20T12:00:00.000Z',
    updated_at: '2026-11-20T12:00:00.000Z',
  });
}

/** A UUID of version 7; a tenth of a millisecond between two, which goes into the bits behind the milliseconds. */
const idOf = (kind: 'a' | 'b') =>
  `(lpad(to_hex($2::bigint - ($1::int - n) / 10), 12, '0') || '7' || lpad(to_hex(n % 10), 3, '0') || '${kind}'
    || substr(md5('${kind}' || n || $2::text), 1, 15))::uuid`;
const merchantCount = 'cardinality($3::uuid[])';
const merchantOf = `($3::uuid[])[1 + n % ${merchantCount}]`;
const createdAt = `to_timestamp(($2::bigint - ($1::int - n) * 0.1) / 1000.0)`;
/** How many hundreds become due before that of the row. */
const hundredsBefore = `(n / ${merchantCount} / 100 * ${merchantCount} + n % ${merchantCount})`;
const dueAt = `coalesce(to_timestamp($5::bigint / 1000.0 + ${hundredsBefore} * 100 / $4::float8), ${createdAt})`;

const insertEvents = `
  INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, callback_url, created_at)
  SELECT ${merchantOf}, ${idOf('a')}, '${subscribedKind}', gen_random_uuid(), 1, $4::json, NULL, ${createdAt}
  FROM generate_series(1, $1::int) AS n`;

const insertDeliveries = `
  INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
    next_attempt_at, created_at, delivered_at)
  SELECT ${merchantOf}, ${idOf('b')}, ${idOf('a')}, endpoints.id, NULL, 'pending', 0, ${dueAt}, ${createdAt}, NULL
  FROM generate_series(1, $1::int) AS n
  JOIN webhook_endpoints AS endpoints ON endpoints.merchant_id = ${merchantOf} AND endpoints.is_default`;
