import type { Queryable } from '../../kit/db.ts';
import type { Delivery } from '../delivery.ts';

/** What became of an event at one address. */
export interface DeliveryRow extends Pick<
  Delivery,
  'id' | 'eventId' | 'endpointId' | 'callbackUrl' | 'status' | 'nextAttemptAt'
> {
  attempts: bigint;
  deliveredAt: Date | null;
}

/** The deliveries of a page of events in the order in which they were made, the last hundred of each event. */
export function listDeliveriesOfEvents(
  db: Queryable,
  merchantId: string,
  eventIds: readonly string[],
): Promise<DeliveryRow[]> {
  return db.rows<DeliveryRow>({
    name: 'webhook_deliveries_of_events',
    text: `SELECT sent.* FROM unnest($2::uuid[]) AS wanted (id)
           CROSS JOIN LATERAL (
             SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", callback_url AS "callbackUrl", status, attempts,
                    next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
             FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = wanted.id
             ORDER BY id DESC LIMIT 100
           ) AS sent
           ORDER BY sent.id`,
    values: [merchantId, [...eventIds]],
  });
}

/** The endpoints that were sent an event at their own URL, all of them. */
export async function listEndpointIdsOfEvent(db: Queryable, merchantId: string, eventId: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'webhook_deliveries_endpoints_of_event',
    text: `SELECT endpoint_id AS id FROM webhook_deliveries
           WHERE merchant_id = $1 AND event_id = $2 AND callback_url IS NULL`,
    values: [merchantId, eventId],
  });
  return rows.map((row) => row.id);
}

/** One attempt and how it ended. */
export interface TryRow {
  deliveryId: string;
  attempt: bigint;
  sentAt: Date;
  statusCode: bigint | null;
  failure: string | null;
  durationMs: bigint;
  answer: string;
}

/** In their order, the last hundred of each delivery: more there are only where somebody sends again and again. */
export function listTriesOfDeliveries(
  db: Queryable,
  merchantId: string,
  deliveryIds: readonly string[],
): Promise<TryRow[]> {
  return db.rows<TryRow>({
    name: 'webhook_attempts_of_deliveries',
    text: `SELECT tries.* FROM unnest($2::uuid[]) AS wanted (id)
           CROSS JOIN LATERAL (
             SELECT delivery_id AS "deliveryId", attempt, created_at AS "sentAt", status_code AS "statusCode", failure,
                    duration_ms AS "durationMs", answer
             FROM webhook_attempts WHERE merchant_id = $1 AND delivery_id = wanted.id
             ORDER BY attempt DESC LIMIT 100
           ) AS tries
           ORDER BY tries."deliveryId", tries.attempt`,
    values: [merchantId, [...deliveryIds]],
  });
}
