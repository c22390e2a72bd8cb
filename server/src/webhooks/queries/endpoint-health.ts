import type { Queryable, Statement } from '../../kit/db.ts';

/** How an endpoint is doing; null where nothing has been sent to it yet. */
export interface HealthRow {
  endpointId: string;
  lastSuccessAt: Date | null;
  failingSince: Date | null;
  lastFailure: string | null;
  pending: bigint;
  kept: bigint;
  failed: bigint;
}

/** More rows than that are not counted. */
export const backlogMax = 10_000;

/**
 * Reads what is known of each endpoint and counts what it has not received: of those that wait, and of those that it
 * missed, up to one more than `backlogMax`, each by an index and in its order.
 */
export function listEndpointHealth(
  db: Queryable,
  merchantId: string,
  endpointIds: readonly string[],
): Promise<HealthRow[]> {
  return db.rows<HealthRow>({
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
    values: [merchantId, [...endpointIds]],
  });
}

/** From here on its failing is counted from the next attempt that fails. */
export function forgetFailing(endpoint: { merchantId: string; id: string }): Statement {
  return {
    name: 'webhook_health_forget_failing',
    text: `UPDATE webhook_endpoint_health SET failing_since = NULL, warned_at = NULL
           WHERE merchant_id = $1 AND endpoint_id = $2`,
    values: [endpoint.merchantId, endpoint.id],
  };
}
