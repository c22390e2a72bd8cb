import { installationId } from '../../audit/audit-entry.ts';
import { bookOf } from './book-of.ts';

// All that a row says, but for its business, which the block's hash covers. Times in microseconds, which no setting of a
// session formats in another way.
const line = `json_build_array(audit_entries.id, test_mode, actor_type, actor_id, actor_name, action, object_type,
  object_id, changes, session_id, request_id, address, result,
  (extract(epoch FROM audit_entries.created_at) * 1000000)::bigint)::text`;

// The installation has a log of its own.
const businesses = `(SELECT id FROM businesses UNION ALL SELECT '${installationId}'::uuid)`;

/** See `Book`. */
export const auditBook = bookOf('audit', {
  /** One index probe for each business on the blocks and one on the rows, however long either is. */
  behind: {
    name: 'audit_blocks_behind',
    text: `-- across merchants: a worker chains the rows of all
           SELECT owners.id AS "ownerId", first.id AS "firstId", COALESCE(head.number, 0) AS number,
                  COALESCE(head.hash, $3) AS hash, COALESCE(head.rows_total, 0) AS "rowsTotal",
                  COALESCE(head.through_id, $4) AS "throughId"
           FROM ${businesses} AS owners
           LEFT JOIN LATERAL (
             SELECT number, hash, rows_total, through_id FROM audit_blocks
             WHERE audit_blocks.business_id = owners.id ORDER BY number DESC LIMIT 1
           ) AS head ON true
           CROSS JOIN LATERAL (
             SELECT id FROM audit_entries
             WHERE audit_entries.business_id = owners.id AND audit_entries.id > COALESCE(head.through_id, $4) ORDER BY id LIMIT 1
           ) AS first
           WHERE first.id < $1 ORDER BY first.id LIMIT $2`,
  },
  /** One index probe for each business. */
  heads: {
    name: 'audit_blocks_heads',
    text: `-- across merchants: the heads of all chains are recorded together
           SELECT owners.id AS "ownerId", head.number, head.hash, head.rows_total AS "rowsTotal",
                  head.through_id AS "throughId"
           FROM ${businesses} AS owners
           CROSS JOIN LATERAL (
             SELECT number, hash, rows_total, through_id FROM audit_blocks
             WHERE audit_blocks.business_id = owners.id AND ($3::timestamptz IS NULL OR chained_at <= $3)
             ORDER BY number DESC LIMIT 1
           ) AS head
           WHERE ($1::uuid IS NULL OR owners.id > $1) ORDER BY owners.id LIMIT $2`,
  },
  /** One probe of the primary key for each that was recorded. */
  unchanged: {
    name: 'audit_blocks_unchanged',
    text: `-- across merchants: the heads of all chains were recorded together
           SELECT count(*) AS count
           FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS recorded (business_id, number, hash)
           JOIN audit_blocks ON audit_blocks.business_id = recorded.business_id AND audit_blocks.number = recorded.number
           WHERE audit_blocks.hash = recorded.hash`,
  },
  /** By id; reads no more rows than it returns. */
  after: {
    name: 'audit_blocks_rows_after',
    text: `SELECT id::text AS id, ${line} AS line FROM audit_entries
           WHERE business_id = $1 AND id > $2 AND id < $3 ORDER BY audit_entries.id LIMIT $4`,
  },
  /** By id; reads all rows and all blocks of the business. */
  unchained: {
    name: 'audit_blocks_unchained',
    text: `WITH chained AS MATERIALIZED (
             SELECT unnest(row_ids) AS id FROM audit_blocks WHERE business_id = $1
           )
           SELECT id::text AS id, ${line} AS line FROM audit_entries
           WHERE business_id = $1 AND id > $2 AND id < $3
             AND NOT EXISTS (SELECT 1 FROM chained WHERE chained.id = audit_entries.id)
           ORDER BY audit_entries.id LIMIT $4`,
  },
  /** From the primary key alone. */
  count: {
    name: 'audit_blocks_count_rows',
    text: 'SELECT count(*) AS count FROM audit_entries WHERE business_id = $1 AND id < $2',
  },
  /** Of two processes that add the block of one number, one does: the other changes no row. */
  insert: {
    name: 'audit_blocks_insert',
    text: `INSERT INTO audit_blocks (business_id, number, hash, row_ids, row_checks, rows_total, through_id, chained_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (business_id, number) DO NOTHING`,
  },
  /** In the order of their numbers. */
  blocks: {
    name: 'audit_blocks_list',
    text: `SELECT number, hash, rows_total AS "rowsTotal", through_id AS "throughId", row_ids AS "rowIds", row_checks AS "rowChecks", chained_at AS "chainedAt"
           FROM audit_blocks WHERE business_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
  },
  /** In the order of the chain, also rows that are gone. */
  rows: {
    name: 'audit_blocks_rows',
    text: `SELECT named.number, named.id::text AS id, CASE WHEN audit_entries.id IS NULL THEN NULL ELSE ${line} END AS line
           FROM (
             SELECT audit_blocks.number, ids.id, ids.position
             FROM audit_blocks CROSS JOIN LATERAL unnest(row_ids) WITH ORDINALITY AS ids (id, position)
             WHERE audit_blocks.business_id = $1 AND number BETWEEN $2 AND $3
           ) AS named
           LEFT JOIN audit_entries ON audit_entries.business_id = $1 AND audit_entries.id = named.id
           ORDER BY named.number, named.position`,
  },
});
