import type { Queryable, Statement, Transaction } from '../kit/db.ts';
import { sealedKeyIdSql } from '../kit/seal.ts';
import { takeClause, takeValues } from '../kit/shared-allowance.ts';
import type { Take } from '../kit/shared-allowance.ts';

/** Answers when the database does. */
export function ping(db: Queryable): Promise<number> {
  return db.run({ name: 'ping', text: 'SELECT 1', values: [] });
}

/**
 * Writes one of the rows that are there for this, and a temporary file of some hundred kilobytes: the row tells of a
 * database that is read-only, the file of a disk that is full, on which a row could still be written over. Whoever opens the
 * transaction bounds the time.
 */
export async function writeProbe(tx: Transaction, probe: { slot: bigint; writtenAt: Date }): Promise<void> {
  tx.send({
    name: 'write_probes_upsert',
    text: `INSERT INTO write_probes (slot, written_at) VALUES ($1, $2)
           ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at`,
    values: [probe.slot, probe.writtenAt],
  });
  tx.send({ name: 'write_probes_little_memory', text: "SELECT set_config('work_mem', '64kB', true)", values: [] });
  // Each of the numbers takes 20 bytes or more, and what does not fit into the memory goes to a file.
  await tx.run({ name: 'write_probes_spill', text: 'SELECT count(*) FROM generate_series(1, 20000)', values: [] });
}

/** Where the answer to a key stands. */
export interface KeyAddress {
  merchantId: string;
  path: string;
  key: string;
}

/**
 * Touches one row when the key is new. While another transaction holds the same key, it waits for that one to end, as
 * long as the connection's lock timeout allows.
 */
export function insertKeyOnce(
  db: Queryable,
  use: KeyAddress & { fingerprint: Buffer; createdAt: Date },
): Promise<number> {
  return db.run({
    name: 'idempotency_keys_insert_once',
    text: `INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (merchant_id, path, key) DO NOTHING`,
    values: [use.merchantId, use.path, use.key, use.fingerprint, use.createdAt],
  });
}

export function findKey(
  db: Queryable,
  use: KeyAddress,
): Promise<
  { fingerprint: Buffer; statusCode: bigint | null; response: Buffer | null; subjectId: string | null } | undefined
> {
  return db.row({
    name: 'idempotency_keys_find',
    text: `SELECT fingerprint, status_code AS "statusCode", response, subject_id AS "subjectId" FROM idempotency_keys
           WHERE merchant_id = $1 AND path = $2 AND key = $3`,
    values: [use.merchantId, use.path, use.key],
  });
}

export function updateKeyResponse(
  use: KeyAddress,
  result: { statusCode: number; response: Buffer; subjectId: string | null },
): Statement {
  return {
    name: 'idempotency_keys_update_response',
    text: `UPDATE idempotency_keys SET status_code = $4, response = $5, subject_id = $6
           WHERE merchant_id = $1 AND path = $2 AND key = $3`,
    values: [use.merchantId, use.path, use.key, result.statusCode, result.response, result.subjectId],
  };
}

export interface StoredResponse extends KeyAddress {
  response: Buffer;
}

const responseKeyId = sealedKeyIdSql('response');

export function countResponsesByKey(db: Queryable): Promise<{ keyId: string; count: bigint }[]> {
  return db.rows({
    name: 'idempotency_keys_count_by_seal_key',
    text: `-- across merchants: one seal key is everybody's
           SELECT ${responseKeyId} AS "keyId", count(*) AS count FROM idempotency_keys
           WHERE response IS NOT NULL GROUP BY 1`,
    values: [],
  });
}

/** In the order of the primary key. */
export function listResponsesUnderOtherKeys(
  db: Queryable,
  page: { keyId: string; after: KeyAddress | null; rowsMax: number },
): Promise<StoredResponse[]> {
  return db.rows<StoredResponse>({
    name: 'idempotency_keys_under_other_seal_keys',
    text: `-- across merchants: one seal key is everybody's
           SELECT merchant_id AS "merchantId", path, key, response FROM idempotency_keys
           WHERE response IS NOT NULL AND ${responseKeyId} <> $1
             AND ($2::uuid IS NULL OR (merchant_id, path, key) > ($2, $3::text, $4::text))
           ORDER BY merchant_id, path, key LIMIT $5`,
    values: [
      page.keyId,
      page.after?.merchantId ?? null,
      page.after?.path ?? null,
      page.after?.key ?? null,
      page.rowsMax,
    ],
  });
}

/** Touches the answer only where it is still the one that was read. */
export function replaceResponse({ merchantId, path, key, response }: StoredResponse, newResponse: Buffer): Statement {
  return {
    name: 'idempotency_keys_replace_response',
    text: `UPDATE idempotency_keys SET response = $5
           WHERE merchant_id = $1 AND path = $2 AND key = $3 AND response = $4`,
    values: [merchantId, path, key, response, newResponse],
  };
}

// A batch of a purge: small, so that it never holds rows that requests wait for. The figure and the order stand in the
// statements, so that they walk the index of what is kept from its old end, whatever values they are planned for.
const purgedRowsMax = 500;

/** Answers that are no longer kept, of keys that stand for what they made for ever; a batch at a time. */
export function forgetResponsesBefore(db: Queryable, before: Date): Promise<number> {
  return db.run({
    name: 'idempotency_keys_forget_responses',
    text: `-- across merchants: what goes is everybody's
           UPDATE idempotency_keys SET response = NULL, is_forgotten = true WHERE (merchant_id, path, key) IN (
             SELECT merchant_id, path, key FROM idempotency_keys
             WHERE created_at < $1 AND subject_id IS NOT NULL AND NOT is_forgotten
             ORDER BY created_at LIMIT ${purgedRowsMax}
           )`,
    values: [before],
  });
}

/** Keys whose answers are no longer kept and that made nothing to stand for, a batch at a time. */
export function deleteKeysBefore(db: Queryable, before: Date): Promise<number> {
  return db.run({
    name: 'idempotency_keys_delete_before',
    text: `-- across merchants: what goes is everybody's
           DELETE FROM idempotency_keys WHERE (merchant_id, path, key) IN (
             SELECT merchant_id, path, key FROM idempotency_keys
             WHERE created_at < $1 AND subject_id IS NULL AND NOT is_forgotten
             ORDER BY created_at LIMIT ${purgedRowsMax}
           )`,
    values: [before],
  });
}

/**
 * Takes `costUs` of a merchant's allowance, shared by all processes: answers the new arrival time, or nothing when the
 * allowance is used up.
 */
export async function takeAllowance(db: Queryable, merchantId: string, take: Take): Promise<bigint | undefined> {
  const row = await db.row<{ arrivalUs: bigint }>({
    name: 'rate_limits_take',
    text: `INSERT INTO rate_limits (merchant_id, arrival_us) ${takeClause('rate_limits', ['merchant_id'])}`,
    values: [merchantId, ...takeValues(take)],
  });
  return row?.arrivalUs;
}

export async function findArrival(db: Queryable, merchantId: string): Promise<bigint | undefined> {
  const row = await db.row<{ arrivalUs: bigint }>({
    name: 'rate_limits_find',
    text: 'SELECT arrival_us AS "arrivalUs" FROM rate_limits WHERE merchant_id = $1',
    values: [merchantId],
  });
  return row?.arrivalUs;
}

/** The same of one key's allowance, within its merchant's. */
export async function takeKeyAllowance(
  db: Queryable,
  { merchantId, keyId }: { merchantId: string; keyId: string },
  take: Take,
): Promise<bigint | undefined> {
  const row = await db.row<{ arrivalUs: bigint }>({
    name: 'key_limits_take',
    text: `INSERT INTO key_limits (merchant_id, key_id, arrival_us)
           ${takeClause('key_limits', ['merchant_id', 'key_id'])}`,
    values: [merchantId, keyId, ...takeValues(take)],
  });
  return row?.arrivalUs;
}

export async function findKeyArrival(
  db: Queryable,
  { merchantId, keyId }: { merchantId: string; keyId: string },
): Promise<bigint | undefined> {
  const row = await db.row<{ arrivalUs: bigint }>({
    name: 'key_limits_find',
    text: 'SELECT arrival_us AS "arrivalUs" FROM key_limits WHERE merchant_id = $1 AND key_id = $2',
    values: [merchantId, keyId],
  });
  return row?.arrivalUs;
}
