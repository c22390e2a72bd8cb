import type { EventKind } from '../../events/kinds.ts';
import type { Queryable, Statement } from '../../kit/db.ts';
import { idsBy } from '../../kit/run-statement.ts';
import { listClause, type ListClause, type ListFilter, type TimeFilter } from '../../api/list-filter.ts';
import type { DeliveryStatus } from '../delivery.ts';
import { chunk } from './deliveries.ts';
import { timeFilters } from './event-lists.ts';

/** Selects an endpoint's events; an absent field is no filter. */
export interface ResendFilter extends TimeFilter {
  endpointId: string;
  kinds?: readonly EventKind[];
}

/** An event to resend. */
export interface EventToResend {
  id: string;
  createdAt: Date;
}

/** The events whose delivery to the endpoint failed or was kept, oldest first, read from the index of those. */
export function listMissedEvents(
  db: Queryable,
  merchantId: string,
  filter: ResendFilter,
  rowsMax: number,
): Promise<EventToResend[]> {
  const clause = resendClause('missed.event_id', 'missed.endpoint_id =', filter);
  return db.rows<EventToResend>({
    name: `webhook_resends_missed_${clause.name}`,
    text: `SELECT events.id, events.created_at AS "createdAt" FROM webhook_deliveries AS missed
           JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
           WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.status IN ('kept', 'failed')
             ${clause.text}
           ORDER BY missed.event_id LIMIT $${clause.values.length + 2}`,
    values: [merchantId, ...clause.values, rowsMax],
  });
}

/** All events, oldest first, whether they were ever sent to the endpoint or not; of test events only its own. */
export function listEventsToResend(
  db: Queryable,
  merchantId: string,
  filter: ResendFilter,
  rowsMax: number,
): Promise<EventToResend[]> {
  const ownTests = `events.kind <> 'webhook_endpoint.test' OR events.object_id =`;
  const clause = resendClause('events.id', ownTests, filter);
  return db.rows<EventToResend>({
    name: `webhook_resends_all_${clause.name}`,
    text: `SELECT events.id, events.created_at AS "createdAt" FROM events
           WHERE events.merchant_id = $1 ${clause.text}
           ORDER BY events.id LIMIT $${clause.values.length + 2}`,
    values: [merchantId, ...clause.values, rowsMax],
  });
}

function resendClause(id: string, ofEndpoint: string, filter: ResendFilter): ListClause {
  return listClause([
    { name: 'endpoint', text: (next) => `(${ofEndpoint} ${next()})`, values: [filter.endpointId] },
    ...timeFilters(id, filter),
    ...(filter.kinds === undefined ? [] : [kindsFilter(filter.kinds)]),
  ]);
}

function kindsFilter(kinds: readonly EventKind[]): ListFilter {
  return { name: 'kinds', text: (next) => `events.kind = ANY (${next()}::text[])`, values: [[...kinds]] };
}

// A scalar and not an EXISTS, for which the planner would read every attempt where there are many rows.
const isNewestRecorded = `(
  SELECT true FROM webhook_attempts
  WHERE webhook_attempts.merchant_id = $1 AND webhook_attempts.delivery_id = webhook_deliveries.id
    AND webhook_attempts.attempt = webhook_deliveries.attempts) IS NOT NULL`;

const isDueOrUnderWay = `webhook_deliveries.status = 'pending'
  AND (webhook_deliveries.next_attempt_at <= $2 OR NOT (${isNewestRecorded}))`;

/** Those of the events whose delivery to the endpoint is due or under way. Locks nothing. */
export const listEventsUnderWay = idsBy<
  [merchantId: string, { endpointId: string; eventIds: readonly string[]; now: Date }]
>({
  name: 'webhook_resends_under_way',
  text: `SELECT event_id AS id FROM webhook_deliveries
         WHERE merchant_id = $1 AND event_id = ANY ($3::uuid[]) AND endpoint_id = $4 AND callback_url IS NULL
           AND ${isDueOrUnderWay}`,
  values: (merchantId, { endpointId, eventIds, now }) => [merchantId, now, [...eventIds], endpointId],
});

/** An event and where to resend it; `id` is for the delivery if there is none yet. */
export interface Resend {
  id: string;
  eventId: string;
  endpointId: string;
  callbackUrl: string | null;
}

const rowsPerStatement = [500, 50, 5, 1];

/**
 * Makes existing deliveries due again now, with the retry schedule from its start, and inserts those that are missing. Only
 * existing deliveries in one of `states` change, and of the pending ones only those that wait for a later attempt. The outcome of
 * an attempt that was under way when its delivery was kept no longer counts. Two statements for each batch, in this order: a
 * cluster refuses a sub-select inside ON CONFLICT.
 */
export function upsertResends(
  merchantId: string,
  resends: readonly Resend[],
  options: { now: Date; states: readonly DeliveryStatus[] },
): Statement[] {
  return chunk(resends, rowsPerStatement).flatMap((rows) => [
    updateResends(merchantId, rows, options),
    insertResends(merchantId, rows, options.now),
  ]);
}

// Counts one attempt that is never made, so that a claim that is still held is no longer the newest.
const attemptsAgain = `attempts + CASE
  WHEN status = 'kept' AND attempts > attempts_before AND NOT (${isNewestRecorded}) THEN 1 ELSE 0 END`;

function updateResends(
  merchantId: string,
  resends: readonly Resend[],
  { now, states }: { now: Date; states: readonly DeliveryStatus[] },
): Statement {
  const rows = resends.map((_resend, row) => {
    const [event, endpoint, isCallback] = [4, 5, 6].map((parameter) => `$${parameter + row * 3}`);
    return `(${event}::uuid, ${endpoint}::uuid, ${isCallback}::boolean)`;
  });
  return {
    name: `webhook_resends_update_${resends.length}`,
    text: `UPDATE webhook_deliveries
           SET status = 'pending', next_attempt_at = $2, delivered_at = NULL,
               attempts = ${attemptsAgain}, attempts_before = ${attemptsAgain}
           FROM (VALUES ${rows.join(', ')}) AS resends (event, endpoint, is_callback)
           WHERE merchant_id = $1 AND event_id = resends.event AND endpoint_id = resends.endpoint
             AND (callback_url IS NULL) = NOT resends.is_callback AND status = ANY ($3::text[]) AND NOT (${isDueOrUnderWay})`,
    values: [
      merchantId,
      now,
      [...states],
      ...resends.flatMap((resend) => [resend.eventId, resend.endpointId, resend.callbackUrl !== null]),
    ],
  };
}

function insertResends(merchantId: string, resends: readonly Resend[], now: Date): Statement {
  const rows = resends.map((_resend, row) => {
    const [id, event, endpoint, callback] = [3, 4, 5, 6].map((parameter) => `$${parameter + row * 4}`);
    return `($1, ${id}, ${event}, ${endpoint}, ${callback}, 'pending', 0, 0, $2, $2, NULL)`;
  });
  return {
    name: `webhook_resends_insert_${resends.length}`,
    text: `INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
             attempts_before, next_attempt_at, created_at, delivered_at)
           VALUES ${rows.join(', ')}
           ON CONFLICT (merchant_id, event_id, endpoint_id, (callback_url IS NULL)) DO NOTHING`,
    values: [
      merchantId,
      now,
      ...resends.flatMap((resend) => [resend.id, resend.eventId, resend.endpointId, resend.callbackUrl]),
    ],
  };
}
