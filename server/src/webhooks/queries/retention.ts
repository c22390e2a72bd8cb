import type { Queryable } from '../../kit/db.ts';
import type { DeliveryStatus } from '../delivery.ts';

// Small, so that a batch never holds rows that anybody waits for. The figures stand in the statements, so that these
// walk a primary key from its old end whatever values they are planned for. Ids of version 7 count up with time: no
// index of times is needed. (One that keeps ranges, BRIN, would not last: rows that are new go where old ones went.)
const batchRowsMax = 500;
const eventsMax = 200;
const merchantsMax = 20;

// As scalars rather than NOT EXISTS, which lets the planner read a whole table for a join.
const hasNothingToCome = (merchant: string) => `(SELECT webhook_deliveries.id FROM webhook_deliveries
    WHERE webhook_deliveries.merchant_id = ${merchant} AND webhook_deliveries.event_id = events.id
      AND webhook_deliveries.status = 'pending' LIMIT 1) IS NULL
  AND (SELECT outbox.subject_id FROM outbox
    WHERE outbox.merchant_id = ${merchant} AND outbox.kind = 'dispatch_event'
      AND outbox.subject_id = events.id) IS NULL`;

/** Merchants with events before this id of which nothing is to be delivered any more: a probe for each merchant. */
export async function listMerchantsWithOldEvents(db: Queryable, beforeId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'webhook_events_merchants_with_old',
    text: `-- across merchants: what goes is everybody's
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT events.id FROM events
             WHERE events.merchant_id = merchants.id AND events.id < $1 AND ${hasNothingToCome('merchants.id')}
             ORDER BY events.id LIMIT 1
           ) AS oldest LIMIT ${merchantsMax}`,
    values: [beforeId],
  });
  return rows.map((row) => row.id);
}

/** A batch of them, the oldest first. Until the transaction ends none gets a new delivery. */
export async function lockOldEvents(db: Queryable, merchantId: string, beforeId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'webhook_events_lock_old',
    text: `SELECT id FROM events WHERE merchant_id = $1 AND id < $2 AND ${hasNothingToCome('$1')}
           ORDER BY id LIMIT ${eventsMax} FOR UPDATE SKIP LOCKED`,
    values: [merchantId, beforeId],
  });
  return rows.map((row) => row.id);
}

/** All deliveries of these events, as they are; until the transaction ends they stay so. */
export function lockDeliveriesOfEvents(
  db: Queryable,
  merchantId: string,
  eventIds: readonly string[],
): Promise<{ eventId: string; status: DeliveryStatus }[]> {
  return db.rows({
    name: 'webhook_deliveries_lock_of_events',
    text: `SELECT event_id AS "eventId", status FROM webhook_deliveries
           WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[]) FOR UPDATE`,
    values: [merchantId, [...eventIds]],
  });
}

/** The caller holds their locks and has seen that none is pending. */
export function deleteDeliveriesOfEvents(
  db: Queryable,
  merchantId: string,
  eventIds: readonly string[],
): Promise<number> {
  return db.run({
    name: 'webhook_deliveries_delete_of_events',
    text: 'DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[])',
    values: [merchantId, [...eventIds]],
  });
}

/** Refused by the foreign key while there is a delivery of one of them. */
export function deleteEvents(db: Queryable, merchantId: string, eventIds: readonly string[]): Promise<number> {
  return db.run({
    name: 'webhook_events_delete',
    text: 'DELETE FROM events WHERE merchant_id = $1 AND id = ANY ($2::uuid[])',
    values: [merchantId, [...eventIds]],
  });
}

/** What attempts older than `before` may be found by: no attempt is older than its delivery, whose id it has. */
export interface OldAttempts {
  beforeDeliveryId: string;
  before: Date;
}

/** Merchants with attempts that are old enough: a probe for each merchant. */
export async function listMerchantsWithOldAttempts(db: Queryable, old: OldAttempts): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'webhook_attempts_merchants_with_old',
    text: `-- across merchants: what goes is everybody's
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT delivery_id FROM webhook_attempts
             WHERE webhook_attempts.merchant_id = merchants.id AND delivery_id < $1
               AND webhook_attempts.created_at < $2
             ORDER BY delivery_id, attempt LIMIT 1
           ) AS oldest LIMIT ${merchantsMax}`,
    values: [old.beforeDeliveryId, old.before],
  });
  return rows.map((row) => row.id);
}

/**
 * A batch of one merchant's, those of the oldest deliveries first. By their place in the table: for 500 keys the planner
 * would rather read all of it.
 */
export function deleteOldAttempts(db: Queryable, merchantId: string, old: OldAttempts): Promise<number> {
  return db.run({
    name: 'webhook_attempts_delete_old',
    text: `DELETE FROM webhook_attempts WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
             SELECT ctid FROM webhook_attempts
             WHERE merchant_id = $1 AND delivery_id < $2 AND created_at < $3
             ORDER BY delivery_id, attempt LIMIT ${batchRowsMax}
           ))`,
    values: [merchantId, old.beforeDeliveryId, old.before],
  });
}
