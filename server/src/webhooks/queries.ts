import type { Queryable, Statement } from '../kit/db.ts';
import type { Delivery, DeliveryStatus, DeliveryTarget, DueDelivery, EventToDispatch } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';

const endpointColumns = `merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

// Endpoints -----------------------------------------------------------------------------------------------------------

/** Unique per merchant where it is the default one. */
export function insertEndpoint(endpoint: Endpoint): Statement {
  return {
    name: 'webhook_endpoints_insert',
    text: `INSERT INTO webhook_endpoints (merchant_id, id, url, description, kinds, status, disabled_reason, is_default,
             secret, previous_secret, previous_secret_expires_at, created_at, updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL)`,
    values: [
      endpoint.merchantId,
      endpoint.id,
      endpoint.url,
      endpoint.description,
      endpoint.kinds,
      endpoint.status,
      endpoint.disabledReason,
      endpoint.isDefault,
      endpoint.secret,
      endpoint.previousSecret,
      endpoint.previousSecretExpiresAt,
      endpoint.createdAt,
      endpoint.updatedAt,
    ],
  };
}

/** Writes what can change; the caller holds the row's lock. */
export function updateEndpointRow(endpoint: Endpoint): Statement {
  return {
    name: 'webhook_endpoints_update',
    text: `UPDATE webhook_endpoints
           SET url = $3, description = $4, kinds = $5, status = $6, disabled_reason = $7, secret = $8,
               previous_secret = $9, previous_secret_expires_at = $10, updated_at = $11
           WHERE merchant_id = $1 AND id = $2`,
    values: [
      endpoint.merchantId,
      endpoint.id,
      endpoint.url,
      endpoint.description,
      endpoint.kinds,
      endpoint.status,
      endpoint.disabledReason,
      endpoint.secret,
      endpoint.previousSecret,
      endpoint.previousSecretExpiresAt,
      endpoint.updatedAt,
    ],
  };
}

export function markEndpointDeleted(endpoint: Pick<Endpoint, 'merchantId' | 'id'>, deletedAt: Date): Statement {
  return {
    name: 'webhook_endpoints_mark_deleted',
    text: 'UPDATE webhook_endpoints SET deleted_at = $3, updated_at = $3 WHERE merchant_id = $1 AND id = $2',
    values: [endpoint.merchantId, endpoint.id, deletedAt],
  };
}

/** Leaves alone an endpoint whose URL is another one: the merchant changed it meanwhile, or it was a callback's. */
export function disableGoneEndpoint(endpoint: { merchantId: string; id: string; url: string; at: Date }): Statement {
  return {
    name: 'webhook_endpoints_disable_gone',
    text: `UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone', updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND url = $3 AND status = 'enabled' AND deleted_at IS NULL`,
    values: [endpoint.merchantId, endpoint.id, endpoint.url, endpoint.at],
  };
}

export function findEndpointById(db: Queryable, merchantId: string, id: string): Promise<Endpoint | undefined> {
  return db.row<Endpoint>({
    name: 'webhook_endpoints_find',
    text: `SELECT ${endpointColumns} FROM webhook_endpoints
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
    values: [merchantId, id],
  });
}

/** Changes of one endpoint happen one after the other, and none while events are being dispatched to it. */
export function lockEndpoint(db: Queryable, merchantId: string, id: string): Promise<Endpoint | undefined> {
  return db.row<Endpoint>({
    name: 'webhook_endpoints_lock',
    text: `SELECT ${endpointColumns} FROM webhook_endpoints
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    values: [merchantId, id],
  });
}

/** Held while a merchant's endpoints are counted, so that no two pass the limit together. */
export async function lockDefaultEndpoint(db: Queryable, merchantId: string): Promise<boolean> {
  const locked = await db.row({
    name: 'webhook_endpoints_lock_default',
    text: 'SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND is_default FOR NO KEY UPDATE',
    values: [merchantId],
  });
  return locked !== undefined;
}

export async function countEndpoints(db: Queryable, merchantId: string): Promise<number> {
  const row = await db.row<{ count: bigint }>({
    name: 'webhook_endpoints_count',
    text: 'SELECT count(*) AS count FROM webhook_endpoints WHERE merchant_id = $1 AND deleted_at IS NULL',
    values: [merchantId],
  });
  return Number(row?.count ?? 0);
}

/** Newest first. */
export function listEndpointsByMerchant(db: Queryable, merchantId: string): Promise<Endpoint[]> {
  return db.rows<Endpoint>({
    name: 'webhook_endpoints_list',
    text: `SELECT ${endpointColumns} FROM webhook_endpoints
           WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id DESC`,
    values: [merchantId],
  });
}

/** Until the transaction ends none of them is changed: what is dispatched to an endpoint is seen by who disables it. */
export function listEndpointsForDispatch(db: Queryable, merchantId: string): Promise<Endpoint[]> {
  return db.rows<Endpoint>({
    name: 'webhook_endpoints_list_for_dispatch',
    text: `SELECT ${endpointColumns} FROM webhook_endpoints
           WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id FOR SHARE`,
    values: [merchantId],
  });
}

// Events --------------------------------------------------------------------------------------------------------------

/** In the order in which they happened. */
export function listEventsToDispatch(
  db: Queryable,
  merchantId: string,
  ids: readonly string[],
): Promise<EventToDispatch[]> {
  return db.rows<EventToDispatch>({
    name: 'webhook_events_list_to_dispatch',
    text: `SELECT id, kind, callback_url AS "callbackUrl" FROM events
           WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id`,
    values: [merchantId, [...ids]],
  });
}

// Deliveries ----------------------------------------------------------------------------------------------------------

/** One per event, endpoint and callback address: dispatching an event again adds nothing. */
export function insertDeliveryOnce(delivery: Delivery): Statement {
  return {
    name: 'webhook_deliveries_insert_once',
    text: `INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
             next_attempt_at, created_at, delivered_at)
           VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, NULL)
           ON CONFLICT DO NOTHING`,
    values: [
      delivery.merchantId,
      delivery.id,
      delivery.eventId,
      delivery.endpointId,
      delivery.callbackUrl,
      delivery.status,
      delivery.nextAttemptAt,
      delivery.createdAt,
    ],
  };
}

// Asking for the earliest row and comparing it, instead of EXISTS a due one, keeps the planner on the index whatever it
// believes about the rows: with 100,000 due for one endpoint an EXISTS read them all (40 ms, this way 0.4).
const earliestOwn = `(SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND webhook_deliveries.endpoint_id = webhook_endpoints.id
    AND callback_url IS NULL AND next_attempt_at IS NOT NULL
  ORDER BY next_attempt_at LIMIT 1)`;
/** Signed by the default endpoint, all of them. */
const earliestCallback = `(SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND callback_url IS NOT NULL AND next_attempt_at IS NOT NULL
  ORDER BY next_attempt_at LIMIT 1)`;

/** The merchants with something to send: index probes for each, so a long backlog of one hides nobody. */
export async function listMerchantsWithDueDeliveries(db: Queryable, now: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>({
    name: 'webhook_deliveries_merchants_due',
    text: `-- across merchants: a worker looks for whoever has something to send
           SELECT DISTINCT merchant_id AS id FROM webhook_endpoints
           WHERE ${earliestOwn} <= $1 OR (is_default AND ${earliestCallback} <= $1)`,
    values: [now],
  });
  return rows.map((row) => row.id);
}

/** The merchant's endpoints that have something due, for their own URL or (the default one) for callback addresses. */
export function listDueTargets(db: Queryable, merchantId: string, now: Date): Promise<DeliveryTarget[]> {
  return db.rows<DeliveryTarget>({
    name: 'webhook_targets_due',
    text: `SELECT * FROM (
             SELECT merchant_id AS "merchantId", id, url, status, deleted_at IS NOT NULL AS deleted, secret,
                    previous_secret AS "previousSecret", previous_secret_expires_at AS "previousSecretExpiresAt",
                    (SELECT merchants.test_mode FROM merchants WHERE merchants.id = $1) AS "testMode",
                    ${earliestOwn} <= $2 AS "ownDue",
                    is_default AND ${earliestCallback} <= $2 AS "callbackDue"
             FROM webhook_endpoints WHERE merchant_id = $1
           ) AS targets
           WHERE "ownDue" OR "callbackDue"`,
    values: [merchantId, now],
  });
}

export interface DeliveryClaim {
  merchantId: string;
  now: Date;
  leaseEndsAt: Date;
  rowsMax: number;
}

/** Takes what is due for an endpoint's own URL, the longest due first; rows that another worker claims are skipped. */
export function claimOwnDeliveries(db: Queryable, endpointId: string, claim: DeliveryClaim): Promise<DueDelivery[]> {
  return db.rows<DueDelivery>({
    name: 'webhook_deliveries_claim_own',
    text: claimText('endpoint_id = $5 AND callback_url IS NULL'),
    values: [claim.merchantId, claim.now, claim.leaseEndsAt, claim.rowsMax, endpointId],
  });
}

/** The same for callback addresses. */
export function claimCallbackDeliveries(db: Queryable, claim: DeliveryClaim): Promise<DueDelivery[]> {
  return db.rows<DueDelivery>({
    name: 'webhook_deliveries_claim_callback',
    text: claimText('callback_url IS NOT NULL'),
    values: [claim.merchantId, claim.now, claim.leaseEndsAt, claim.rowsMax],
  });
}

/** A claimed row stays due at the end of its lease; its attempt number tells this claim from a later one. */
function claimText(lane: string): string {
  return `WITH due AS (
            SELECT id FROM webhook_deliveries
            WHERE merchant_id = $1 AND ${lane} AND next_attempt_at <= $2
            ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED
          ), claimed AS (
            UPDATE webhook_deliveries
            SET next_attempt_at = $3, attempts = webhook_deliveries.attempts + 1
            FROM due WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = due.id
            RETURNING webhook_deliveries.id, webhook_deliveries.event_id, webhook_deliveries.callback_url,
                      webhook_deliveries.attempts
          )
          SELECT claimed.id, claimed.attempts AS attempt, claimed.callback_url AS "callbackUrl",
                 events.id AS "eventId", events.kind, events.created_at AS "createdAt", events.sequence,
                 events.record::text AS "recordText"
          FROM claimed JOIN events ON events.merchant_id = $1 AND events.id = claimed.event_id`;
}

type ClaimedDelivery = { merchantId: string; id: string; attempt: bigint };

/** Only the newest claim may say so; a success counts even if the endpoint was switched off meanwhile. */
export function markDelivered(delivery: ClaimedDelivery, deliveredAt: Date): Statement {
  return {
    name: 'webhook_deliveries_mark_delivered',
    text: `UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL, delivered_at = $4
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status IN ('pending', 'kept')`,
    values: [delivery.merchantId, delivery.id, delivery.attempt, deliveredAt],
  };
}

/** Only the newest claim may say so, and not once the delivery was kept. */
export function markAttemptFailed(
  delivery: ClaimedDelivery,
  outcome: { status: DeliveryStatus; nextAttemptAt: Date | null },
): Statement {
  return {
    name: 'webhook_deliveries_mark_attempt_failed',
    text: `UPDATE webhook_deliveries SET status = $4, next_attempt_at = $5
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending'`,
    values: [delivery.merchantId, delivery.id, delivery.attempt, outcome.status, outcome.nextAttemptAt],
  };
}

/** Undoes a claim: nothing was sent, so it does not count as an attempt. */
export function putBackDelivery(delivery: ClaimedDelivery, dueAt: Date): Statement {
  return {
    name: 'webhook_deliveries_put_back',
    text: `UPDATE webhook_deliveries SET attempts = webhook_deliveries.attempts - 1, next_attempt_at = $4
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending'`,
    values: [delivery.merchantId, delivery.id, delivery.attempt, dueAt],
  };
}

/**
 * What an endpoint has not received is kept for a replay. Bounded, so that a long backlog cannot outlast the statement's
 * time limit: the worker keeps the rest as it falls due.
 */
export function keepPendingDeliveries(db: Queryable, endpoint: { merchantId: string; id: string }): Promise<number> {
  return db.run({
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
    values: [endpoint.merchantId, endpoint.id],
  });
}

/** Deliveries that are to be made or made again; each half has an index of its own. */
export async function countPendingDeliveries(db: Queryable): Promise<number> {
  const row = await db.row<{ count: bigint }>({
    name: 'webhook_deliveries_count_pending',
    text: `-- across merchants: the operator watches all of them
           SELECT (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NULL)
             + (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NOT NULL)
             AS count`,
    values: [],
  });
  return Number(row?.count ?? 0n);
}

export function insertAttempt(attempt: {
  merchantId: string;
  deliveryId: string;
  attempt: bigint;
  statusCode: number | null;
  failure: string | null;
  durationMs: number;
  answer: string;
  createdAt: Date;
}): Statement {
  return {
    name: 'webhook_attempts_insert',
    text: `INSERT INTO webhook_attempts (merchant_id, delivery_id, attempt, status_code, failure, duration_ms, answer,
             created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      attempt.merchantId,
      attempt.deliveryId,
      attempt.attempt,
      attempt.statusCode,
      attempt.failure,
      attempt.durationMs,
      attempt.answer,
      attempt.createdAt,
    ],
  };
}
