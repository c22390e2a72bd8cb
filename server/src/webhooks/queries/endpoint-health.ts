import { finderOf } from '../../api/find-record.ts';
import { rowsBy, statementBy, valueBy } from '../../kit/run-statement.ts';

/** The health of an endpoint; null where nothing has been sent to it yet. */
export interface HealthRow {
  endpointId: string;
  lastSuccessAt: Date | null;
  failingSince: Date | null;
  lastFailure: string | null;
  pending: bigint;
  kept: bigint;
  failed: bigint;
}

/** No more rows than that are counted. */
export const backlogMax = 10_000;

/**
 * Reads the health of each endpoint and counts its pending, kept and failed deliveries: up to one more than `backlogMax` each,
 * by an index and in its order.
 */
export const listEndpointHealth = rowsBy<HealthRow, [merchantId: string, endpointIds: readonly string[]]>({
  name: 'webhook_health_list',
  text: `SELECT wanted.id AS "endpointId", health.last_success_at AS "lastSuccessAt",
                health.failing_since AS "failingSince", health.last_failure AS "lastFailure",
                waiting.pending, missed.kept, missed.failed
         FROM unnest($2::uuid[]) AS wanted (id)
         LEFT JOIN webhook_endpoint_health AS health
           ON health.merchant_id = $1 AND health.endpoint_id = wanted.id
         CROSS JOIN LATERAL (
           SELECT count(*) AS pending FROM (
             SELECT 1 FROM webhook_deliveries
             WHERE merchant_id = $1 AND endpoint_id = wanted.id AND callback_url IS NULL
               AND next_attempt_at IS NOT NULL
             ORDER BY next_attempt_at LIMIT ${backlogMax + 1}
           ) AS first
         ) AS waiting
         CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE status = 'kept') AS kept,
                  count(*) FILTER (WHERE status = 'failed') AS failed
           FROM (
             SELECT status FROM webhook_deliveries
             WHERE merchant_id = $1 AND endpoint_id = wanted.id AND callback_url IS NULL
               AND status IN ('kept', 'failed')
             ORDER BY event_id DESC LIMIT ${backlogMax + 1}
           ) AS newest
         ) AS missed`,
});

/** The next failed attempt starts the count anew. */
export const clearFailing = statementBy<[endpoint: { merchantId: string; id: string }]>({
  name: 'webhook_health_forget_failing',
  text: `UPDATE webhook_endpoint_health SET failing_since = NULL, warned_at = NULL
         WHERE merchant_id = $1 AND endpoint_id = $2`,
  values: (endpoint) => [endpoint.merchantId, endpoint.id],
});

/** Returns the next sequence number of an endpoint's events; concurrent callers get different ones. */
export const incrementEndpointSequence = valueBy<bigint, [merchantId: string, endpointId: string]>({
  name: 'webhook_health_raise_sequence',
  text: `INSERT INTO webhook_endpoint_health (merchant_id, endpoint_id, event_sequence) VALUES ($1, $2, 1)
         ON CONFLICT (merchant_id, endpoint_id)
         DO UPDATE SET event_sequence = webhook_endpoint_health.event_sequence + 1
         RETURNING event_sequence AS value`,
  none: 1n,
});

/** What a batch of attempts shows about an endpoint's health. */
export interface HealthNote {
  endpointId: string;
  /** Null where none of them succeeded. */
  lastSuccessAt: Date | null;
  /** The first failed attempt after the last success; null where the last attempt succeeded. */
  failingSince: Date | null;
  /** The HTTP status of the last failed attempt, or why there was no response; null where none failed. */
  lastFailure: string | null;
}

/** A success ends `failing_since`; without one the earliest known failure stays. */
export const noteHealth = statementBy<[merchantId: string, note: HealthNote]>({
  name: 'webhook_health_note',
  text: `INSERT INTO webhook_endpoint_health (merchant_id, endpoint_id, last_success_at, failing_since, last_failure,
           warned_at, event_sequence)
         VALUES ($1, $2, $3, $4, $5, NULL, 0)
         ON CONFLICT (merchant_id, endpoint_id) DO UPDATE
         SET last_success_at = GREATEST(webhook_endpoint_health.last_success_at, excluded.last_success_at),
             failing_since = CASE WHEN excluded.last_success_at IS NULL
               THEN COALESCE(webhook_endpoint_health.failing_since, excluded.failing_since)
               ELSE excluded.failing_since END,
             last_failure = COALESCE(excluded.last_failure, webhook_endpoint_health.last_failure),
             warned_at = CASE WHEN excluded.last_success_at IS NULL THEN webhook_endpoint_health.warned_at END
         RETURNING failing_since AS "failingSince", warned_at AS "warnedAt"`,
  values: (merchantId, note) => [merchantId, note.endpointId, note.lastSuccessAt, note.failingSince, note.lastFailure],
});

/** Since when an endpoint fails, and when its merchant was warned. */
export interface Failing {
  failingSince: Date | null;
  warnedAt: Date | null;
}

/** No other transaction changes the endpoint's health before this one ends. */
export const lockFailing = finderOf<Failing>({
  name: 'webhook_health_lock',
  text: `SELECT failing_since AS "failingSince", warned_at AS "warnedAt" FROM webhook_endpoint_health
         WHERE merchant_id = $1 AND endpoint_id = $2 FOR NO KEY UPDATE`,
});

export const markWarned = statementBy<[merchantId: string, endpointId: string, warnedAt: Date]>({
  name: 'webhook_health_mark_warned',
  text: 'UPDATE webhook_endpoint_health SET warned_at = $3 WHERE merchant_id = $1 AND endpoint_id = $2',
});

/** The attempts of one hour. */
export interface HourOfAttempts {
  hour: Date;
  delivered: number;
  failed: number;
}

/** Hours without attempts are left out. Reads the attempts of all endpoints since then. */
export const listHoursOfAttempts = rowsBy<
  HourOfAttempts,
  [merchantId: string, { endpointId: string; since: Date; sinceDeliveryId: string }]
>({
  name: 'webhook_attempts_by_hour',
  text: `SELECT date_trunc('hour', webhook_attempts.created_at, 'UTC') AS hour,
                count(*) FILTER (WHERE status_code BETWEEN 200 AND 299)::int AS delivered,
                count(*) FILTER (WHERE status_code IS NULL OR status_code NOT BETWEEN 200 AND 299)::int AS failed
         FROM webhook_attempts
         JOIN webhook_deliveries ON webhook_deliveries.merchant_id = webhook_attempts.merchant_id
           AND webhook_deliveries.id = webhook_attempts.delivery_id
         WHERE webhook_attempts.merchant_id = $1 AND webhook_deliveries.endpoint_id = $2
           AND webhook_deliveries.callback_url IS NULL
           AND webhook_attempts.delivery_id >= $3 AND webhook_attempts.created_at >= $4
         GROUP BY 1 ORDER BY 1`,
  values: (merchantId, { endpointId, since, sinceDeliveryId }) => [merchantId, endpointId, sinceDeliveryId, since],
});
