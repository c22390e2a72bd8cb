import type { Queryable, Statement, Transaction } from '../kit/db.ts';
import { rowsBy, runBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { statementByLast } from '../kit/many-rows.ts';
import { sealedKeyIdSql } from '../kit/seal.ts';
import { takeClause, takeValues, type Take } from '../kit/shared-allowance.ts';

/** Resolves if the database responds. */
export const ping = runBy<[]>({
  name: 'ping',
  text: 'SELECT 1',
});

/**
 * Writes a row reserved for probes, and a temporary file of some hundred kilobytes: the row fails on a read-only database, the
 * file on a full disk, where updating a row may still succeed. The caller's transaction bounds the time.
 */
export async function writeProbe(tx: Transaction, probe: { slot: bigint; writtenAt: Date }): Promise<void> {
  tx.send({
    name: 'write_probes_upsert',
    text: `INSERT INTO write_probes (slot, written_at) VALUES ($1, $2)
           ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at`,
    values: [probe.slot, probe.writtenAt],
  });
  tx.send({ name: 'write_probes_little_memory', text: "SELECT set_config('work_mem', '64kB', true)", values: [] });
  // Each number takes at least 20 bytes, so the rows exceed work_mem and go to a file.
  await tx.run({ name: 'write_probes_spill', text: 'SELECT count(*) FROM generate_series(1, 20000)', values: [] });
}

/** Whether the database is the coordinator of a cluster. */
export const isCluster = valueBy<boolean, []>({
  name: 'cluster_exists',
  text: `SELECT to_regclass('pg_dist_node') IS NOT NULL AS value`,
  none: false,
});

/** Every node of the cluster that does not answer its coordinator. */
export async function listNodesDown(db: Queryable): Promise<string[]> {
  const rows = await db.rows<{ node: string }>({
    name: 'cluster_nodes_down',
    text: `SELECT nodename || ':' || nodeport AS node FROM run_command_on_all_nodes('SELECT 1') JOIN pg_dist_node USING (nodeid)
           WHERE NOT success ORDER BY node`,
    values: [],
  });
  return rows.map(({ node }) => node);
}

/** Identifies an idempotency key: its scope is the merchant and the path. */
export interface KeyAddress {
  merchantId: string;
  path: string;
  key: string;
}

interface UsedKey extends KeyAddress {
  fingerprint: Buffer;
  createdAt: Date;
}

interface KeyResponse {
  statusCode: number;
  response: Buffer;
  subjectId: string | null;
}

/**
 * Inserts one row if the key is new. If another transaction is inserting the same key, waits for it to end, at most for the
 * connection's lock timeout.
 */
export const insertKeyOnce = statementBy<[use: UsedKey]>({
  name: 'idempotency_keys_insert_once',
  text: `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (merchant_id, path, key) DO NOTHING`,
  values: (use) => [use.merchantId, use.path, use.key, use.fingerprint, use.createdAt],
});

/** Inserts a key with its response. Fails if another transaction has inserted the key. */
export function insertKey(use: UsedKey, { statusCode, response, subjectId }: KeyResponse): Statement {
  return {
    name: 'idempotency_keys_insert',
    text: `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at, status_code, response, subject_id)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [use.merchantId, use.path, use.key, use.fingerprint, use.createdAt, statusCode, response, subjectId],
    rowKey: `${use.path} ${use.key}`,
  };
}

export function findKeyStatement({ merchantId, path, key }: KeyAddress): Statement {
  return statementByLast({
    name: 'idempotency_keys_find',
    text: (keys) => `SELECT key, fingerprint, status_code AS "statusCode", response, subject_id AS "subjectId"
           FROM idempotency_keys WHERE merchant_id = $1 AND path = $2 AND key IN (${keys})`,
    values: [merchantId, path, key],
    column: 'key',
  });
}

export function findKey(
  db: Queryable,
  use: KeyAddress,
): Promise<
  { fingerprint: Buffer; statusCode: bigint | null; response: Buffer | null; subjectId: string | null } | undefined
> {
  return db.row(findKeyStatement(use));
}

export const updateKeyResponse = statementBy<[use: KeyAddress, result: KeyResponse]>({
  name: 'idempotency_keys_update_response',
  text: `UPDATE idempotency_keys SET status_code = $4, response = $5, subject_id = $6
         WHERE merchant_id = $1 AND path = $2 AND key = $3`,
  values: (use, result) => [use.merchantId, use.path, use.key, result.statusCode, result.response, result.subjectId],
});

export interface StoredResponse extends KeyAddress {
  response: Buffer;
}

const responseKeyId = sealedKeyIdSql('response');

export const countResponsesByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'idempotency_keys_count_by_seal_key',
  text: `-- across merchants: one seal key is everybody's
         SELECT ${responseKeyId} AS "keyId", count(*) AS count FROM idempotency_keys
         WHERE response IS NOT NULL GROUP BY 1`,
});

/** In the order of the primary key. */
export const listResponsesUnderOtherKeys = rowsBy<
  StoredResponse,
  [page: { keyId: string; after: KeyAddress | null; rowsMax: number }]
>({
  name: 'idempotency_keys_under_other_seal_keys',
  text: `-- across merchants: one seal key is everybody's
         SELECT merchant_id AS "merchantId", path, key, response FROM idempotency_keys
         WHERE response IS NOT NULL AND ${responseKeyId} <> $1
           AND ($2::uuid IS NULL OR (merchant_id, path, key) > ($2, $3::text, $4::text))
         ORDER BY merchant_id, path, key LIMIT $5`,
  values: (page) => [
    page.keyId,
    page.after?.merchantId ?? null,
    page.after?.path ?? null,
    page.after?.key ?? null,
    page.rowsMax,
  ],
});

/** Replaces the response only if it is still the one that was read. */
export const replaceResponse = statementBy<[StoredResponse, newResponse: Buffer]>({
  name: 'idempotency_keys_replace_response',
  text: `UPDATE idempotency_keys SET response = $5
         WHERE merchant_id = $1 AND path = $2 AND key = $3 AND response = $4`,
  values: ({ merchantId, path, key, response }, newResponse) => [merchantId, path, key, response, newResponse],
});

// The batch size of a purge: small, so that requests do not wait for its row locks. It is a literal in the statements, so that
// even a generic plan walks the index from its oldest entry. Rows are found by ctid: a join on their keys would be a
// nested loop over the whole table while its statistics are old. A row that changes meanwhile may be left to the next batch.
const purgedRowsMax = 500;

/** The merchants of the oldest expired keys, each with the time of the newest of these. */
export const listMerchantsWithOldKeys = rowsBy<{ merchantId: string; through: Date }, [before: Date]>({
  name: 'idempotency_keys_oldest',
  text: `-- across merchants: what goes is everybody's
         SELECT merchant_id AS "merchantId", max(created_at) AS through FROM (
           SELECT merchant_id, created_at FROM idempotency_keys WHERE created_at < $1 AND NOT is_forgotten
           ORDER BY created_at LIMIT ${purgedRowsMax}
         ) AS oldest GROUP BY merchant_id`,
});

/** Deletes responses of a merchant's keys that are kept for ever, one batch; returns how many. */
export const forgetResponsesThrough = runBy<[merchantId: string, through: Date]>({
  name: 'idempotency_keys_forget_responses',
  text: `UPDATE idempotency_keys SET response = NULL, is_forgotten = true
         WHERE merchant_id = $1 AND NOT is_forgotten AND ctid = ANY (ARRAY(
           SELECT ctid FROM idempotency_keys
           WHERE merchant_id = $1 AND created_at <= $2 AND subject_id IS NOT NULL AND NOT is_forgotten
           ORDER BY created_at LIMIT ${purgedRowsMax}
         ))`,
});

/** Deletes a merchant's keys that are not kept for ever, one batch; returns how many. */
export const deleteKeysThrough = runBy<[merchantId: string, through: Date]>({
  name: 'idempotency_keys_delete_through',
  text: `DELETE FROM idempotency_keys WHERE merchant_id = $1 AND subject_id IS NULL AND ctid = ANY (ARRAY(
           SELECT ctid FROM idempotency_keys
           WHERE merchant_id = $1 AND created_at <= $2 AND subject_id IS NULL AND NOT is_forgotten
           ORDER BY created_at LIMIT ${purgedRowsMax}
         ))`,
});

/**
 * Takes `costUs` of a merchant's allowance, which all processes share. Returns the new arrival time, or undefined if the
 * allowance is used up.
 */
export const takeAllowance = valueBy<bigint | undefined, [merchantId: string, take: Take]>({
  name: 'rate_limits_take',
  text: `INSERT INTO rate_limits (merchant_id, arrival_us) ${takeClause('rate_limits', ['merchant_id'])}`,
  values: (merchantId, take) => [merchantId, ...takeValues(take)],
  none: undefined,
});

export const findArrival = valueBy<bigint | undefined, [merchantId: string]>({
  name: 'rate_limits_find',
  text: 'SELECT arrival_us AS value FROM rate_limits WHERE merchant_id = $1',
  none: undefined,
});

/** As `takeAllowance`, for one key's part of its merchant's allowance. */
export const takeKeyAllowance = valueBy<bigint | undefined, [{ merchantId: string; keyId: string }, take: Take]>({
  name: 'key_limits_take',
  text: `INSERT INTO key_limits (merchant_id, key_id, arrival_us)
         ${takeClause('key_limits', ['merchant_id', 'key_id'])}`,
  values: ({ merchantId, keyId }, take) => [merchantId, keyId, ...takeValues(take)],
  none: undefined,
});

export const findKeyArrival = valueBy<bigint | undefined, [{ merchantId: string; keyId: string }]>({
  name: 'key_limits_find',
  text: 'SELECT arrival_us AS value FROM key_limits WHERE merchant_id = $1 AND key_id = $2',
  values: ({ merchantId, keyId }) => [merchantId, keyId],
  none: undefined,
});

/** One look-up in the primary key for each path. */
export const listUsesOfKey = rowsBy<
  { path: string; statusCode: number | null; subjectId: string | null; createdAt: Date },
  [merchantId: string, { key: string; paths: readonly string[] }]
>({
  name: 'idempotency_keys_list_uses',
  text: `SELECT path, status_code::int AS "statusCode", subject_id AS "subjectId", created_at AS "createdAt"
         FROM idempotency_keys WHERE merchant_id = $1 AND path = ANY ($2::text[]) AND key = $3
         ORDER BY created_at`,
  values: (merchantId, { key, paths }) => [merchantId, [...paths], key],
});
