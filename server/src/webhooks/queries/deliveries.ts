import type { EventToDeliver } from '../../events/event.ts';
import { assert } from '../../kit/assert.ts';
import type { Queryable, Statement } from '../../kit/db.ts';
import { countBy, rowsBy, runBy, statementBy } from '../../kit/run-statement.ts';
import { searchParts, type DueSearch } from '../../kit/due-floors.ts';
import { sweepMerchants } from '../../kit/sweep.ts';
import type { Delivery, DeliveryStatus, DeliveryTarget, DueDelivery, EndpointQueue } from '../delivery.ts';

/**
 * One row per event, endpoint and callback URL: planning an event again adds nothing. With an attempt it is written as claimed,
 * until `nextAttemptAt`.
 */
export function insertDeliveryOnce({ attempts = 0, ...delivery }: Delivery & { attempts?: number }): Statement {
  return {
    name: 'webhook_deliveries_insert_once',
    text: `INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
             next_attempt_at, created_at, delivered_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)
           ON CONFLICT DO NOTHING`,
    values: [
      delivery.merchantId,
      delivery.id,
      delivery.eventId,
      delivery.endpointId,
      delivery.callbackUrl,
      delivery.status,
      attempts,
      delivery.nextAttemptAt,
      delivery.createdAt,
    ],
    rowKey: delivery.id,
  };
}

/** A page of the events after an id, oldest first, without test events, each of which is for one endpoint. */
export const listEventsToDeliver = rowsBy<EventToDeliver, [merchantId: string, { after: string; rowsMax: number }]>({
  name: 'webhook_events_list_to_deliver',
  text: `SELECT merchant_id AS "merchantId", id, kind, callback_url AS "callbackUrl" FROM events
         WHERE merchant_id = $1 AND id > $2 AND kind <> 'webhook_endpoint.test' ORDER BY id LIMIT $3`,
  values: (merchantId, { after, rowsMax }) => [merchantId, after, rowsMax],
});

/** What a delivery goes to: the endpoint, and whether it is its own URL. An event has at most one for each. */
export interface DeliveryAddress {
  eventId: string;
  endpointId: string;
  isOwnUrl: boolean;
}

/** The addresses for which a page of events has deliveries already, and what has become of those. */
export const listPlannedAddresses = rowsBy<
  DeliveryAddress & { status: DeliveryStatus },
  [merchantId: string, { after: string; last: string }]
>({
  name: 'webhook_deliveries_list_planned',
  text: `SELECT event_id AS "eventId", endpoint_id AS "endpointId", callback_url IS NULL AS "isOwnUrl", status
         FROM webhook_deliveries WHERE merchant_id = $1 AND event_id > $2 AND event_id <= $3`,
  values: (merchantId, { after, last }) => [merchantId, after, last],
});

const isFromStart = `get_byte(uuid_send(webhook_endpoints.id), 15) % ${searchParts} = $3`;

// Asking for the earliest row and comparing it, instead of EXISTS a due one, keeps the planner on the index whatever it
// believes about the rows: with 100,000 due for one endpoint an EXISTS read them all (40 ms, this way 0.4).
const searchedFrom = `CASE WHEN ${isFromStart} THEN '-infinity' ELSE $2::timestamptz END`;
const earliestOwn = `(SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND webhook_deliveries.endpoint_id = webhook_endpoints.id
    AND callback_url IS NULL AND next_attempt_at >= ${searchedFrom}
  ORDER BY next_attempt_at LIMIT 1)`;
/** The default endpoint signs all of them. */
const earliestCallback = `(SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND callback_url IS NOT NULL AND next_attempt_at >= ${searchedFrom}
  ORDER BY next_attempt_at LIMIT 1)`;

interface DueEndpoint {
  merchantId: string;
  id: string;
  fromStart: boolean;
  ownDue: boolean | null;
  callbackDue: boolean | null;
}

/**
 * The endpoint queues with due deliveries: index probes for each, so that a long backlog of one hides no other. OFFSET keeps
 * the planner from probing twice, for the condition and for the result.
 */
export async function listDueEndpointQueues(
  db: Queryable,
  { now, from, part }: DueSearch,
): Promise<(EndpointQueue & { fromStart: boolean })[]> {
  const rows = await sweepMerchants<DueEndpoint>(db, {
    name: 'webhook_deliveries_queues_due',
    text: `-- across merchants: a worker looks for whoever has something to send
           SELECT * FROM (
             SELECT webhook_endpoints.merchant_id AS "merchantId", id, ${isFromStart} AS "fromStart",
                    ${earliestOwn} <= $1 AS "ownDue", is_default AND ${earliestCallback} <= $1 AS "callbackDue"
             FROM merchant_places JOIN webhook_endpoints ON webhook_endpoints.merchant_id = merchant_places.merchant_id
             OFFSET 0
           ) AS endpoints
           WHERE "ownDue" OR "callbackDue"`,
    values: [now, from, part],
  });
  return rows.flatMap(({ merchantId, id, fromStart, ownDue, callbackDue }) => [
    ...(ownDue === true ? [{ merchantId, endpointId: id, fromStart }] : []),
    ...(callbackDue === true ? [{ merchantId, endpointId: null, fromStart }] : []),
  ]);
}

/** The endpoint of a queue; for callback URLs the default one, whose secret signs. Also a disabled or deleted one. */
export function findDeliveryTarget(
  db: Queryable,
  { merchantId, endpointId }: EndpointQueue,
): Promise<DeliveryTarget | undefined> {
  return db.row<DeliveryTarget>({
    name: endpointId === null ? 'webhook_targets_find_default' : 'webhook_targets_find',
    text: `SELECT merchant_id AS "merchantId", id, url, status, deleted_at IS NOT NULL AS deleted, secret,
                  previous_secret AS "previousSecret", previous_secret_expires_at AS "previousSecretExpiresAt",
                  updated_at AS "updatedAt", (SELECT merchants.test_mode FROM merchants WHERE merchants.id = $1) AS "testMode"
           FROM webhook_endpoints WHERE merchant_id = $1 AND ${endpointId === null ? 'is_default' : 'id = $2'}`,
    values: [merchantId, ...(endpointId === null ? [] : [endpointId])],
  });
}

export interface DeliveryClaim extends EndpointQueue {
  now: Date;
  /** Nothing that was due earlier is left; default: looks at all. */
  from?: Date;
  leaseEndsAt: Date;
  rowsMax: number;
}

// Nothing of a disabled endpoint is claimed, whatever the caller has read before: deliveries that were planned while it was
// being disabled may become visible only afterwards.
const isReceivingNow = `(SELECT true FROM webhook_endpoints
  WHERE webhook_endpoints.merchant_id = $1 AND webhook_endpoints.id = $6 AND status = 'enabled' AND url IS NOT NULL
    AND deleted_at IS NULL)`;

/** Claims due deliveries of an endpoint queue, the longest due first; rows that another worker claims are skipped. */
export function claimDeliveries(db: Queryable, claim: DeliveryClaim): Promise<(DueDelivery & { dueAt: Date })[]> {
  const { merchantId, endpointId, now, from = new Date(0), leaseEndsAt, rowsMax } = claim;
  assert(rowsMax <= claimRowsMax, 'a claim requests at most as many rows as the statement returns');
  return db.rows<DueDelivery & { dueAt: Date }>({
    name: endpointId === null ? 'webhook_deliveries_claim_callback' : 'webhook_deliveries_claim_own',
    text: claimText(
      endpointId === null
        ? 'callback_url IS NOT NULL'
        : `endpoint_id = $6 AND callback_url IS NULL AND ${isReceivingNow}`,
    ),
    values: [merchantId, now, leaseEndsAt, rowsMax, from, ...(endpointId === null ? [] : [endpointId])],
    commitsAsynchronously: true,
  });
}

// The most that one claim may request. The limit is part of the statement, because with a limit as a parameter the planner
// expects a tenth of an endpoint's backlog: at 100,000 due rows it joined whole tables for each claim.
export const claimRowsMax = 128;

/** A claimed row is due again when its lease ends; its attempt number tells this claim from a later one. */
function claimText(queue: string): string {
  return `WITH due AS (
            SELECT id, next_attempt_at FROM (
              SELECT id, next_attempt_at FROM webhook_deliveries
              WHERE merchant_id = $1 AND ${queue} AND next_attempt_at BETWEEN $5 AND $2
              ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED
            ) AS longest LIMIT ${claimRowsMax}
          ), claimed AS (
            UPDATE webhook_deliveries
            SET next_attempt_at = $3, attempts = webhook_deliveries.attempts + 1
            FROM due WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = due.id
            RETURNING webhook_deliveries.id, webhook_deliveries.event_id, webhook_deliveries.callback_url,
                      webhook_deliveries.attempts, webhook_deliveries.attempts_before, due.next_attempt_at
          )
          SELECT claimed.id, claimed.attempts AS attempt, claimed.attempts - claimed.attempts_before AS "tryNumber",
                 claimed.callback_url AS "callbackUrl", claimed.next_attempt_at AS "dueAt", events.id AS "eventId", events.kind,
                 events.created_at AS "createdAt", events.sequence, events.request_id AS "requestId",
                 events.record::text AS "recordText"
          FROM claimed JOIN events ON events.merchant_id = $1 AND events.id = claimed.event_id`;
}

/** Identifies a claim of a delivery. */
export type ClaimKey = Pick<DueDelivery, 'id' | 'attempt'>;

/** Only for the newest claim of each delivery; a success counts even if the endpoint was disabled meanwhile. */
export function markDelivered(merchantId: string, delivered: readonly (ClaimKey & { deliveredAt: Date })[]): Statement {
  return {
    name: 'webhook_deliveries_mark_delivered',
    text: `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL, delivered_at = ended.delivered_at
           FROM unnest($2::uuid[], $3::bigint[], $4::timestamptz[]) AS ended (id, attempt, delivered_at)
           WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = ended.id
             AND webhook_deliveries.attempts = ended.attempt AND webhook_deliveries.status IN ('pending', 'kept')`,
    values: [merchantId, ...claimKeys(delivered), delivered.map(({ deliveredAt }) => deliveredAt)],
  };
}

/** Only for the newest claim of each delivery, and not once the delivery is kept. */
export const markAttemptsFailed = statementBy<
  [merchantId: string, failed: readonly (ClaimKey & { status: DeliveryStatus; nextAttemptAt: Date | null })[]]
>({
  name: 'webhook_deliveries_mark_attempts_failed',
  text: `UPDATE webhook_deliveries SET status = ended.status, next_attempt_at = ended.next_attempt_at
         FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::timestamptz[])
           AS ended (id, attempt, status, next_attempt_at)
         WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = ended.id
           AND webhook_deliveries.attempts = ended.attempt AND webhook_deliveries.status = 'pending'`,
  values: (merchantId, failed) => [
    merchantId,
    ...claimKeys(failed),
    failed.map(({ status }) => status),
    failed.map(({ nextAttemptAt }) => nextAttemptAt),
  ],
});

/** Undoes claims: nothing was sent, so they do not count as attempts. */
export const putBackDeliveries = statementBy<[merchantId: string, unsent: readonly ClaimKey[], dueAt: Date]>({
  name: 'webhook_deliveries_put_back',
  text: `UPDATE webhook_deliveries SET attempts = webhook_deliveries.attempts - 1, next_attempt_at = $4
         FROM unnest($2::uuid[], $3::bigint[]) AS unsent (id, attempt)
         WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = unsent.id
           AND webhook_deliveries.attempts = unsent.attempt AND webhook_deliveries.status = 'pending'`,
  values: (merchantId, unsent, dueAt) => [merchantId, ...claimKeys(unsent), dueAt],
});

function claimKeys(claims: readonly ClaimKey[]): [string[], bigint[]] {
  return [claims.map((claim) => claim.id), claims.map((claim) => claim.attempt)];
}

/**
 * Marks an endpoint's pending deliveries as kept. Bounded, so that a long backlog cannot exceed the statement's time limit: the
 * worker marks the rest as it falls due.
 */
export const keepPendingDeliveries = runBy<[endpoint: { merchantId: string; id: string }]>({
  name: 'webhook_deliveries_keep_pending',
  text: `WITH pending AS (
           SELECT id FROM webhook_deliveries
           WHERE merchant_id = $1 AND endpoint_id = $2 AND callback_url IS NULL AND next_attempt_at IS NOT NULL
             AND status = 'pending'
           ORDER BY next_attempt_at LIMIT 10000
         )
         UPDATE webhook_deliveries SET status = 'kept', next_attempt_at = NULL
         FROM pending
         WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = pending.id
           AND webhook_deliveries.status = 'pending'`,
  values: (endpoint) => [endpoint.merchantId, endpoint.id],
});

/** Pending deliveries of all merchants; each half has an index of its own. */
export const countPending = countBy<[]>({
  name: 'webhook_deliveries_count_pending',
  text: `-- across merchants: the operator watches all of them
         SELECT (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NULL)
           + (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NOT NULL)
           AS count`,
});

export interface AttemptRow {
  merchantId: string;
  deliveryId: string;
  attempt: bigint;
  statusCode: number | null;
  failure: string | null;
  durationMs: number;
  /** The beginning of the response body. */
  response: string;
  createdAt: Date;
}

// Many rows in one statement cost a third of what they cost one by one.
const rowsPerStatement = [32, 8, 4, 2, 1];

/** One row for each attempt. */
export function insertAttempts(attempts: readonly AttemptRow[]): Statement[] {
  return chunk(attempts, rowsPerStatement).map(insertAttemptRows);
}

/**
 * Splits rows for statements of many rows. Few sizes, the last of them 1, because each size is a statement of its own, which
 * a connection plans once.
 */
export function chunk<Row>(rows: readonly Row[], sizes: readonly number[]): Row[][] {
  const chunks: Row[][] = [];
  let done = 0;
  for (const size of sizes) {
    for (; rows.length - done >= size; done += size) chunks.push(rows.slice(done, done + size));
  }
  return chunks;
}

function insertAttemptRows(attempts: readonly AttemptRow[]): Statement {
  const columns = 8;
  const rows = attempts.map((_attempt, row) => {
    const parameters = Array.from({ length: columns }, (_parameter, column) => `$${row * columns + column + 1}`);
    return `(${parameters.join(', ')})`;
  });
  return {
    name: `webhook_attempts_insert_${attempts.length}`,
    text: `INSERT INTO webhook_attempts (merchant_id, delivery_id, attempt, status_code, failure, duration_ms, response,
             created_at)
           VALUES ${rows.join(', ')}
           ON CONFLICT (merchant_id, delivery_id, attempt) DO NOTHING`,
    values: attempts.flatMap((attempt) => [
      attempt.merchantId,
      attempt.deliveryId,
      attempt.attempt,
      attempt.statusCode,
      attempt.failure,
      attempt.durationMs,
      attempt.response,
      attempt.createdAt,
    ]),
  };
}
