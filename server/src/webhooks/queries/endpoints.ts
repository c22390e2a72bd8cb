import type { Statement } from '../../kit/db.ts';
import { finderOf } from '../../api/find-record.ts';
import { countBy, isFoundBy, rowsBy, statementBy } from '../../kit/run-statement.ts';
import type { DisabledReason, Endpoint, EndpointToPlan } from '../endpoint.ts';

const endpointColumns = `merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** A merchant's default endpoint is unique. */
export const insertEndpoint = statementBy<[endpoint: Endpoint]>({
  name: 'webhook_endpoints_insert',
  text: `INSERT INTO webhook_endpoints (merchant_id, id, url, description, kinds, status, disabled_reason, secret,
           previous_secret, previous_secret_expires_at, is_default, created_at, updated_at, deleted_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL)`,
  values: (endpoint) => [
    endpoint.merchantId,
    endpoint.id,
    ...changeable(endpoint),
    endpoint.isDefault,
    endpoint.createdAt,
    endpoint.updatedAt,
  ],
});

/** Writes the fields that can change; the caller holds the row's lock. */
export const updateEndpointRow = statementBy<[endpoint: Endpoint]>({
  name: 'webhook_endpoints_update',
  text: `UPDATE webhook_endpoints
         SET url = $3, description = $4, kinds = $5, status = $6, disabled_reason = $7, secret = $8,
             previous_secret = $9, previous_secret_expires_at = $10, updated_at = $11
         WHERE merchant_id = $1 AND id = $2`,
  values: (endpoint) => [endpoint.merchantId, endpoint.id, ...changeable(endpoint), endpoint.updatedAt],
});

/** The fields that can change: parameters 3 to 10 of both statements. */
function changeable(endpoint: Endpoint): unknown[] {
  const { url, description, kinds, status, disabledReason } = endpoint;
  const { secret, previousSecret, previousSecretExpiresAt } = endpoint;
  return [url, description, kinds, status, disabledReason, secret, previousSecret, previousSecretExpiresAt];
}

export const markEndpointDeleted = statementBy<[endpoint: Pick<Endpoint, 'merchantId' | 'id'>, deletedAt: Date]>({
  name: 'webhook_endpoints_mark_deleted',
  text: 'UPDATE webhook_endpoints SET deleted_at = $3, updated_at = $3 WHERE merchant_id = $1 AND id = $2',
  values: (endpoint, deletedAt) => [endpoint.merchantId, endpoint.id, deletedAt],
});

/**
 * Changes nothing where the endpoint is not as it was called: it has changed since `updatedAt`, or its URL is a different one because
 * a callback URL was called.
 */
export function disableEndpoint(endpoint: {
  merchantId: string;
  id: string;
  url: string;
  updatedAt: Date;
  reason: DisabledReason;
  disabledAt: Date;
}): Statement {
  return {
    name: 'webhook_endpoints_disable',
    text: `UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $5, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND url = $3 AND updated_at = $6 AND status = 'enabled' AND deleted_at IS NULL`,
    values: [endpoint.merchantId, endpoint.id, endpoint.url, endpoint.disabledAt, endpoint.reason, endpoint.updatedAt],
  };
}

export const findEndpointById = finderOf<Endpoint>({
  name: 'webhook_endpoints_find',
  text: `SELECT ${endpointColumns} FROM webhook_endpoints
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
});

/** Also for a deleted endpoint: its deliveries stay on record. */
export const isEndpointKnown = isFoundBy<[merchantId: string, id: string]>({
  name: 'webhook_endpoints_is_known',
  text: 'SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND id = $2',
});

/** Changes of one endpoint are made one at a time. */
export const lockEndpoint = finderOf<Endpoint>({
  name: 'webhook_endpoints_lock',
  text: `SELECT ${endpointColumns} FROM webhook_endpoints
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

/** The endpoint cannot be changed before the transaction ends; others can. */
export const lockEndpointShared = finderOf<Endpoint>({
  name: 'webhook_endpoints_share',
  text: `SELECT ${endpointColumns} FROM webhook_endpoints
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE`,
});

/** Locked while a merchant's endpoints are counted, so that no two requests pass the limit together. */
export const lockDefaultEndpoint = isFoundBy<[merchantId: string]>({
  name: 'webhook_endpoints_lock_default',
  text: 'SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND is_default FOR NO KEY UPDATE',
});

export const countEndpoints = countBy<[merchantId: string]>({
  name: 'webhook_endpoints_count',
  text: 'SELECT count(*) AS count FROM webhook_endpoints WHERE merchant_id = $1 AND deleted_at IS NULL',
});

/** Newest first. */
export const listEndpointsByMerchant = rowsBy<Endpoint, [merchantId: string]>({
  name: 'webhook_endpoints_list',
  text: `SELECT ${endpointColumns} FROM webhook_endpoints
         WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id DESC`,
});

/**
 * Oldest first, without locks: every payment plans, and a change of an endpoint would never get its lock. Deliveries to
 * an endpoint that is disabled meanwhile cannot be claimed; a worker marks them as kept.
 */
export const listEndpointsToPlan = rowsBy<EndpointToPlan, [merchantId: string]>({
  name: 'webhook_endpoints_list_to_plan',
  text: `SELECT ${endpointColumns},
                (SELECT merchants.test_mode FROM merchants WHERE merchants.id = $1) AS "testMode"
         FROM webhook_endpoints WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id`,
});
