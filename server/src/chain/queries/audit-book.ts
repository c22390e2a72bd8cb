import { installationId } from '../../audit/audit-entry.ts';
import type { Queryable, Statement } from '../../kit/db.ts';
import type { Block, ChainedRow } from '../block.ts';
import { emptyHead } from '../block.ts';
import type { Book, OwnerHead, RowRange, StoredRow } from '../book.ts';

// All that a row says, but for its business, which the block's hash covers. Times in microseconds, which no setting of a
// session formats in another way.
const line = `json_build_array(audit_entries.id, test_mode, actor_type, actor_id, actor_name, action, object_type,
  object_id, changes, session_id, request_id, address, result,
  (extract(epoch FROM audit_entries.created_at) * 1000000)::bigint)::text`;

// The installation has a log of its own.
const businesses = `(SELECT id FROM businesses UNION ALL SELECT '${installationId}'::uuid)`;

/** See `Book`. */
export const auditBook: Book = {
  name: 'audit',
  listBehind,
  listHeads,
  listAfter,
  listUnchained,
  countRows,
  insertBlock,
  listBlocks,
  listRows,
};

/** One index probe for each business on the blocks and one on the rows, however long either is. */
function listBehind(
  db: Queryable,
  { beforeId, rowsMax }: { beforeId: string; rowsMax: number },
): Promise<(OwnerHead & { firstId: string })[]> {
  return db.rows({
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
    values: [beforeId, rowsMax, emptyHead.hash, emptyHead.throughId],
  });
}

/** One index probe for each business. */
function listHeads(
  db: Queryable,
  { after, rowsMax, at }: { after: string | null; rowsMax: number; at: Date | null },
): Promise<OwnerHead[]> {
  return db.rows({
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
    values: [after, rowsMax, at],
  });
}

/** By id; reads no more rows than it returns. */
function listAfter(db: Queryable, { ownerId, afterId, beforeId, rowsMax }: RowRange): Promise<ChainedRow[]> {
  return db.rows<ChainedRow>({
    name: 'audit_blocks_rows_after',
    text: `SELECT id::text AS id, ${line} AS line FROM audit_entries
           WHERE business_id = $1 AND id > $2 AND id < $3 ORDER BY audit_entries.id LIMIT $4`,
    values: [ownerId, afterId, beforeId, rowsMax],
  });
}

/** By id; reads all rows and all blocks of the business. */
function listUnchained(db: Queryable, { ownerId, afterId, beforeId, rowsMax }: RowRange): Promise<ChainedRow[]> {
  return db.rows<ChainedRow>({
    name: 'audit_blocks_unchained',
    text: `WITH chained AS MATERIALIZED (
             SELECT unnest(row_ids) AS id FROM audit_blocks WHERE business_id = $1
           )
           SELECT id::text AS id, ${line} AS line FROM audit_entries
           WHERE business_id = $1 AND id > $2 AND id < $3
             AND NOT EXISTS (SELECT 1 FROM chained WHERE chained.id = audit_entries.id)
           ORDER BY audit_entries.id LIMIT $4`,
    values: [ownerId, afterId, beforeId, rowsMax],
  });
}

/** From the primary key alone. */
async function countRows(db: Queryable, ownerId: string, beforeId: string): Promise<bigint> {
  const row = await db.row<{ count: bigint }>({
    name: 'audit_blocks_count_rows',
    text: 'SELECT count(*) AS count FROM audit_entries WHERE business_id = $1 AND id < $2',
    values: [ownerId, beforeId],
  });
  return row?.count ?? 0n;
}

/** Of two processes that add the block of one number, one does: the other changes no row. */
function insertBlock(ownerId: string, block: Block): Statement {
  return {
    name: 'audit_blocks_insert',
    text: `INSERT INTO audit_blocks (business_id, number, hash, row_ids, row_checks, rows_total, through_id, chained_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (business_id, number) DO NOTHING`,
    values: [
      ownerId,
      block.number,
      block.hash,
      block.rowIds,
      block.rowChecks,
      block.rowsTotal,
      block.throughId,
      block.chainedAt,
    ],
  };
}

/** In the order of their numbers. */
function listBlocks(
  db: Queryable,
  { ownerId, number, rowsMax }: { ownerId: string; number: bigint; rowsMax: number },
): Promise<Block[]> {
  return db.rows<Block>({
    name: 'audit_blocks_list',
    text: `SELECT number, hash, rows_total AS "rowsTotal", through_id AS "throughId", row_ids AS "rowIds", row_checks AS "rowChecks", chained_at AS "chainedAt"
           FROM audit_blocks WHERE business_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
    values: [ownerId, number, rowsMax],
  });
}

/** In the order of the chain, also rows that are gone. */
function listRows(
  db: Queryable,
  { ownerId, from, to }: { ownerId: string; from: bigint; to: bigint },
): Promise<StoredRow[]> {
  return db.rows<StoredRow>({
    name: 'audit_blocks_rows',
    text: `SELECT named.number, named.id::text AS id, CASE WHEN audit_entries.id IS NULL THEN NULL ELSE ${line} END AS line
           FROM (
             SELECT audit_blocks.number, ids.id, ids.position
             FROM audit_blocks CROSS JOIN LATERAL unnest(row_ids) WITH ORDINALITY AS ids (id, position)
             WHERE audit_blocks.business_id = $1 AND number BETWEEN $2 AND $3
           ) AS named
           LEFT JOIN audit_entries ON audit_entries.business_id = $1 AND audit_entries.id = named.id
           ORDER BY named.number, named.position`,
    values: [ownerId, from, to],
  });
}
