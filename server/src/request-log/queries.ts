import { finderOf } from '../api/find-record.ts';
import { columnFilter, createdFilter, substringPattern, type ListFilter, type TimeFilter } from '../api/list-filter.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import type { Queryable, Statement } from '../kit/db.ts';
import { rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import { sweepBy, sweptIdsBy } from '../kit/sweep.ts';
import type { LoggedRequest } from './logged-request.ts';

const shortColumns = `merchant_id AS "merchantId", id, request_id AS "requestId", key_id AS "keyId", method, path, query,
  status_code::int AS "statusCode", duration_ms::int AS "durationMs", idempotency_key AS "idempotencyKey",
  error_code AS "errorCode", path_object_id AS "pathObjectId", response_object_id AS "responseObjectId",
  created_at AS "createdAt"`;

/** A request without its bodies, as lists show it. */
export type ListedRequest = Omit<LoggedRequest, 'requestBody' | 'responseBody'>;

// So that few statements have names, whatever a batch holds.
const rowsPerStatement = [50, 10, 1];
const columnsPerRow = 15;

/** Those of one merchant. A batch that was written although it seemed to fail may be written again. */
export async function insertRequests(db: Queryable, merchantId: string, all: readonly LoggedRequest[]): Promise<void> {
  let rest = all;
  while (rest.length > 0) {
    const count = rowsPerStatement.find((rows) => rows <= rest.length) ?? 1;
    await db.run(insertRows(merchantId, rest.slice(0, count)));
    rest = rest.slice(count);
  }
}

function insertRows(merchantId: string, rows: readonly LoggedRequest[]): Statement {
  const rowTexts = rows.map((_row, row) => {
    const numbers = Array.from({ length: columnsPerRow }, (_none, column) => `$${2 + row * columnsPerRow + column}`);
    return `($1, ${numbers.join(', ')})`;
  });
  return {
    name: `request_log_insert_${rows.length}`,
    text: `INSERT INTO request_log (merchant_id, id, request_id, key_id, method, path, query, status_code, duration_ms,
             idempotency_key, error_code, request_body, response_body, created_at, path_object_id, response_object_id)
           VALUES ${rowTexts.join(', ')} ON CONFLICT (merchant_id, id) DO NOTHING`,
    values: [merchantId, ...rows.flatMap(valuesOf)],
  };
}

function valuesOf(row: LoggedRequest): unknown[] {
  return [
    ...[row.id, row.requestId, row.keyId, row.method, storable(row.path), storable(row.query), row.statusCode],
    ...[row.durationMs, row.idempotencyKey, row.errorCode, storable(row.requestBody), storable(row.responseBody)],
    ...[row.createdAt, row.pathObjectId, row.responseObjectId],
  ];
}

/** PostgreSQL stores no null character, and a text that was cut may end with half a character. */
function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\u0000', '').toWellFormed();
}

/** Filters of the list; undefined is no filter. */
export interface RequestFilter extends TimeFilter {
  /** A request id or an idempotency key, in full. */
  term?: string | undefined;
  /** A part of the path. */
  path?: string | undefined;
  method?: string | undefined;
  keyId?: string | undefined;
  /** Whose path or response has one of these ids. */
  objectIds?: readonly string[] | undefined;
  status?: 'successful' | 'refused' | 'failed' | undefined;
}

const statusRanges = {
  successful: 'status_code < 400',
  refused: 'status_code BETWEEN 400 AND 499',
  failed: 'status_code >= 500',
};

const requestList: ListSource<ListedRequest> = {
  name: 'request_log',
  select: `SELECT ${shortColumns} FROM request_log WHERE merchant_id = $1`,
};

/** Newest first. */
export const listRequests = listOf(requestList, (filter: RequestFilter) => {
  const { term, path, method, keyId, objectIds, status, ...times } = filter;
  const filters: ListFilter[] = [
    ...(term === undefined ? [] : [termFilter(term)]),
    ...columnFilter('path', 'path ILIKE', path === undefined ? undefined : substringPattern(path)),
    ...columnFilter('method', 'method =', method),
    ...columnFilter('key', 'key_id =', keyId),
    ...(objectIds === undefined ? [] : [objectFilter(objectIds)]),
    ...(status === undefined ? [] : [{ name: status, text: () => statusRanges[status], values: [] }]),
    ...createdFilter('request_log', times),
  ];
  const isSearch = path !== undefined || method !== undefined || keyId !== undefined || status !== undefined;
  return { filters, isSearch };
});

function termFilter(term: string): ListFilter {
  return {
    name: 'request_or_key',
    text: (next) => {
      const parameter = next();
      return `(request_id = ${parameter} OR idempotency_key = ${parameter})`;
    },
    values: [term],
  };
}

function objectFilter(objectIds: readonly string[]): ListFilter {
  return {
    name: 'object',
    text: (next) => {
      const parameter = next();
      return `(path_object_id = ANY (${parameter}::uuid[]) OR response_object_id = ANY (${parameter}::uuid[]))`;
    },
    values: [objectIds],
  };
}

export const findRequestById = finderOf<LoggedRequest>({
  name: 'request_log_find',
  text: `SELECT ${shortColumns}, request_body AS "requestBody", response_body AS "responseBody"
         FROM request_log WHERE merchant_id = $1 AND id = $2`,
});

// A record that is polled every minute has more; the list of its requests has all.
const requestsOfRecordMax = 50;

interface RecordOfRequests {
  objectIds: readonly string[];
  /** Of the requests that made its events. */
  requestIds: readonly string[];
}

/** The newest logged requests that concerned a record, each read from an index. */
export const listRequestsOfRecord = rowsBy<ListedRequest, [merchantId: string, RecordOfRequests]>({
  name: 'request_log_list_of_record',
  text: `SELECT ${shortColumns} FROM request_log
         WHERE merchant_id = $1 AND (path_object_id = ANY ($2::uuid[]) OR response_object_id = ANY ($2::uuid[])
           OR request_id = ANY ($3::text[]))
         ORDER BY id DESC LIMIT ${requestsOfRecordMax}`,
  values: (merchantId, { objectIds, requestIds }) => [merchantId, [...objectIds], [...requestIds]],
});

// As in the other purges: small batches, found from the old end of the primary key, whose ids count up with time.
const purgedRowsMax = 500;

const purgedMerchantsMax = 20;

/** A merchant with requests to trim, and up to which id its older ones are trimmed. */
export interface TrimmedMerchant {
  merchantId: string;
  trimmedTo: string;
}

/** Merchants with requests before this id that are not trimmed: one index probe for each merchant. */
export const listMerchantsToTrim = sweepBy<TrimmedMerchant, [beforeId: string]>({
  name: 'request_log_merchants_to_trim',
  text: `-- across merchants: retention is the same for all
         SELECT merchant_places.merchant_id AS "merchantId", COALESCE(trims.trimmed_to, $2) AS "trimmedTo"
         FROM merchant_places
         LEFT JOIN request_log_trims AS trims ON trims.merchant_id = merchant_places.merchant_id
         CROSS JOIN LATERAL (
           SELECT request_log.id FROM request_log
           WHERE request_log.merchant_id = merchant_places.merchant_id AND request_log.id < $1
             AND request_log.id > COALESCE(trims.trimmed_to, $2)
           ORDER BY request_log.id LIMIT 1
         ) AS oldest LIMIT ${purgedMerchantsMax}`,
  values: (beforeId) => [beforeId, '00000000-0000-0000-0000-000000000000'],
});

/** A range of a merchant's requests: after the one id, up to the other. */
interface RequestRange {
  merchantId: string;
  afterId: string;
  toId: string;
}

/** The last id of the next batch to trim; undefined where nothing is left. */
export async function findTrimBatchEnd(
  db: Queryable,
  { merchantId, trimmedTo }: TrimmedMerchant,
  beforeId: string,
): Promise<string | undefined> {
  const rows = await db.rows<{ id: string }>({
    name: 'request_log_batch_to_trim',
    text: `SELECT id FROM request_log WHERE merchant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT ${purgedRowsMax}`,
    values: [merchantId, trimmedTo, beforeId],
  });
  return rows.at(-1)?.id;
}

/** Requests that changed nothing: reads and refusals. Whether one that failed did is not known. */
export const deleteUnchanging = statementBy<[RequestRange]>({
  name: 'request_log_delete_unchanging',
  text: `DELETE FROM request_log WHERE merchant_id = $1 AND id > $2 AND id <= $3
           AND (method = 'GET' OR ${statusRanges.refused})`,
  values: ({ merchantId, afterId, toId }) => [merchantId, afterId, toId],
});

export const deleteBodies = statementBy<[RequestRange]>({
  name: 'request_log_delete_bodies',
  text: `UPDATE request_log SET query = NULL, request_body = NULL, response_body = NULL
         WHERE merchant_id = $1 AND id > $2 AND id <= $3`,
  values: ({ merchantId, afterId, toId }) => [merchantId, afterId, toId],
});

/** Of requests whose path or response has one of these ids. */
export const deleteBodiesOfRecords = statementBy<[merchantId: string, objectIds: readonly string[]]>({
  name: 'request_log_delete_bodies_of_records',
  text: `UPDATE request_log SET query = NULL, request_body = NULL, response_body = NULL
         WHERE merchant_id = $1 AND (path_object_id = ANY ($2::uuid[]) OR response_object_id = ANY ($2::uuid[]))`,
});

/** The customers that these records are, or that the payments and attempts among them name. */
export const listCustomersOfRecords = rowsBy<
  { id: string; customerId: string },
  [merchantId: string, objectIds: readonly string[]]
>({
  name: 'request_log_customers_of_records',
  text: `SELECT id, id AS "customerId" FROM customers WHERE merchant_id = $1 AND id = ANY ($2::uuid[])
         UNION ALL
         SELECT id, customer_id FROM payment_intents
         WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND customer_id IS NOT NULL
         UNION ALL
         SELECT charges.id, customer_id FROM charges
         JOIN payment_intents ON payment_intents.merchant_id = $1 AND payment_intents.id = charges.intent_id
         WHERE charges.merchant_id = $1 AND charges.id = ANY ($2::uuid[]) AND customer_id IS NOT NULL`,
  values: (merchantId, objectIds) => [merchantId, [...objectIds]],
});

/**
 * Those of these customers that are not deleted and not being deleted. Each is locked: a deletion that comes later waits, and then
 * finds what this transaction writes.
 */
export async function lockCustomersNotDeleted(
  db: Queryable,
  merchantId: string,
  customerIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>({
    name: 'request_log_lock_customers',
    text: `SELECT id FROM customers WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL
           ORDER BY id FOR KEY SHARE SKIP LOCKED`,
    values: [merchantId, [...customerIds]],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Never backwards, when two processes trim. */
export const recordTrim = statementBy<[RequestRange]>({
  name: 'request_log_trims_upsert',
  text: `INSERT INTO request_log_trims AS trims (merchant_id, trimmed_to) VALUES ($1, $2)
         ON CONFLICT (merchant_id) DO UPDATE SET trimmed_to = EXCLUDED.trimmed_to
         WHERE trims.trimmed_to < EXCLUDED.trimmed_to`,
  values: ({ merchantId, toId }) => [merchantId, toId],
});

/** Merchants with requests before this id: one index probe for each merchant. */
export const listMerchantsWithOldRequests = sweptIdsBy<[beforeId: string]>({
  name: 'request_log_merchants_with_old',
  text: `-- across merchants: retention is the same for all
         SELECT merchant_places.merchant_id AS id FROM merchant_places CROSS JOIN LATERAL (
           SELECT request_log.id FROM request_log
           WHERE request_log.merchant_id = merchant_places.merchant_id AND request_log.id < $1
           ORDER BY request_log.id LIMIT 1
         ) AS oldest LIMIT ${purgedMerchantsMax}`,
});

/** One batch of a merchant's; returns how many. */
export const deleteRequestsBefore = runBy<[merchantId: string, beforeId: string]>({
  name: 'request_log_delete_old',
  text: `DELETE FROM request_log WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
           SELECT ctid FROM request_log WHERE merchant_id = $1 AND id < $2 ORDER BY id LIMIT ${purgedRowsMax}
         ))`,
});
