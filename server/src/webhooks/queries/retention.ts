import { idsBy, rowsBy, runBy } from '../../kit/run-statement.ts';
import { sweptIdsBy } from '../../kit/sweep.ts';
import type { DeliveryStatus } from '../delivery.ts';

// Small, so that a batch never holds rows that others wait for. The numbers are part of the statements, so that these walk a
// primary key from its old end whatever values they are planned for. Ids of version 7 grow with time: no index of times is
// needed. (A BRIN index would not last: new rows fill the space of deleted ones.)
const batchRowsMax = 500;
const eventsMax = 200;
const merchantsMax = 20;

// As scalars rather than NOT EXISTS, which lets the planner read a whole table for a join.
const hasNothingPending = (merchant: string) => `(SELECT webhook_deliveries.id FROM webhook_deliveries
    WHERE webhook_deliveries.merchant_id = ${merchant} AND webhook_deliveries.event_id = events.id
      AND webhook_deliveries.status = 'pending' LIMIT 1) IS NULL`;

/** Merchants with events before this id that have nothing left to deliver: a probe for each merchant. */
export const listMerchantsWithOldEvents = sweptIdsBy<[beforeId: string]>({
  name: 'webhook_events_merchants_with_old',
  text: `-- across merchants: retention is the same for all
         SELECT merchant_places.merchant_id AS id FROM merchant_places CROSS JOIN LATERAL (
           SELECT events.id FROM events
           WHERE events.merchant_id = merchant_places.merchant_id AND events.id < $1 AND ${hasNothingPending('merchant_places.merchant_id')}
           ORDER BY events.id LIMIT 1
         ) AS oldest LIMIT ${merchantsMax}`,
});

/** A batch of such events, oldest first. None gets a new delivery before the transaction ends. */
export const lockOldEvents = idsBy<[merchantId: string, beforeId: string]>({
  name: 'webhook_events_lock_old',
  text: `SELECT id FROM events WHERE merchant_id = $1 AND id < $2 AND ${hasNothingPending('$1')}
         ORDER BY id LIMIT ${eventsMax} FOR UPDATE SKIP LOCKED`,
});

/** All deliveries of these events; none changes before the transaction ends. */
export const lockDeliveriesOfEvents = rowsBy<
  { eventId: string; status: DeliveryStatus },
  [merchantId: string, eventIds: readonly string[]]
>({
  name: 'webhook_deliveries_lock_of_events',
  text: `SELECT event_id AS "eventId", status FROM webhook_deliveries
         WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[]) FOR UPDATE`,
  values: (merchantId, eventIds) => [merchantId, [...eventIds]],
});

/** The caller has locked them and checked that none is pending. */
export const deleteDeliveriesOfEvents = runBy<[merchantId: string, eventIds: readonly string[]]>({
  name: 'webhook_deliveries_delete_of_events',
  text: 'DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[])',
});

/** The foreign key refuses it while one of them has a delivery. */
export const deleteEvents = runBy<[merchantId: string, eventIds: readonly string[]]>({
  name: 'webhook_events_delete',
  text: 'DELETE FROM events WHERE merchant_id = $1 AND id = ANY ($2::uuid[])',
});

/** How attempts older than `before` are found: no attempt is older than its delivery, whose id it has. */
export interface OldAttempts {
  beforeDeliveryId: string;
  before: Date;
}

/** Merchants with attempts that old: a probe for each merchant. */
export const listMerchantsWithOldAttempts = sweptIdsBy<[old: OldAttempts]>({
  name: 'webhook_attempts_merchants_with_old',
  text: `-- across merchants: retention is the same for all
         SELECT merchant_places.merchant_id AS id FROM merchant_places CROSS JOIN LATERAL (
           SELECT delivery_id FROM webhook_attempts
           WHERE webhook_attempts.merchant_id = merchant_places.merchant_id AND delivery_id < $1
             AND webhook_attempts.created_at < $2
           ORDER BY delivery_id, attempt LIMIT 1
         ) AS oldest LIMIT ${merchantsMax}`,
  values: (old) => [old.beforeDeliveryId, old.before],
});

/**
 * A batch of one merchant's attempts, those of the oldest deliveries first. By `ctid`, because for 500 keys the planner would
 * read the whole table.
 */
export const deleteOldAttempts = runBy<[merchantId: string, old: OldAttempts]>({
  name: 'webhook_attempts_delete_old',
  text: `DELETE FROM webhook_attempts WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
           SELECT ctid FROM webhook_attempts
           WHERE merchant_id = $1 AND delivery_id < $2 AND created_at < $3
           ORDER BY delivery_id, attempt LIMIT ${batchRowsMax}
         ))`,
  values: (merchantId, old) => [merchantId, old.beforeDeliveryId, old.before],
});
