import { bookOf } from './book-of.ts';

// All that a row says, but for its merchant, which the block's hash covers. Times in microseconds, which no setting of a
// session formats in another way.
const line = `json_build_array(ledger_movements.id, debit_account, credit_account, amount, currency, flow, source_type, source_id,
  (extract(epoch FROM ledger_movements.created_at) * 1000000)::bigint)::text`;

/** See `Book`. */
export const ledgerBook = bookOf('ledger', {
  /** One index probe for each merchant on the blocks and one on the rows, however long either is. */
  behind: {
    name: 'movement_blocks_behind',
    text: `-- across merchants: a worker chains the rows of all
           SELECT owners.merchant_id AS "ownerId", first.id AS "firstId", COALESCE(head.number, 0) AS number,
                  COALESCE(head.hash, $3) AS hash, COALESCE(head.rows_total, 0) AS "rowsTotal",
                  COALESCE(head.through_id, $4) AS "throughId"
           FROM merchant_places AS owners
           LEFT JOIN LATERAL (
             SELECT number, hash, rows_total, through_id FROM movement_blocks
             WHERE movement_blocks.merchant_id = owners.merchant_id ORDER BY number DESC LIMIT 1
           ) AS head ON true
           CROSS JOIN LATERAL (
             SELECT id FROM ledger_movements
             WHERE ledger_movements.merchant_id = owners.merchant_id AND ledger_movements.id > COALESCE(head.through_id, $4) ORDER BY id LIMIT 1
           ) AS first
           WHERE first.id < $1 ORDER BY first.id LIMIT $2`,
  },
  /** One index probe for each merchant. */
  heads: {
    name: 'movement_blocks_heads',
    text: `-- across merchants: the heads of all chains are recorded together
           SELECT owners.merchant_id AS "ownerId", head.number, head.hash, head.rows_total AS "rowsTotal",
                  head.through_id AS "throughId"
           FROM merchant_places AS owners
           CROSS JOIN LATERAL (
             SELECT number, hash, rows_total, through_id FROM movement_blocks
             WHERE movement_blocks.merchant_id = owners.merchant_id AND ($3::timestamptz IS NULL OR chained_at <= $3)
             ORDER BY number DESC LIMIT 1
           ) AS head
           WHERE ($1::uuid IS NULL OR owners.merchant_id > $1) ORDER BY owners.merchant_id LIMIT $2`,
  },
  /** One probe of the primary key for each that was recorded. */
  unchanged: {
    name: 'movement_blocks_unchanged',
    text: `-- across merchants: the heads of all chains were recorded together
           SELECT count(*) AS count
           FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS recorded (merchant_id, number, hash)
           JOIN movement_blocks ON movement_blocks.merchant_id = recorded.merchant_id AND movement_blocks.number = recorded.number
           WHERE movement_blocks.hash = recorded.hash`,
  },
  /** By id; reads no more rows than it returns. */
  after: {
    name: 'movement_blocks_rows_after',
    text: `SELECT id::text AS id, ${line} AS line FROM ledger_movements
           WHERE merchant_id = $1 AND id > $2 AND id < $3 ORDER BY ledger_movements.id LIMIT $4`,
  },
  /** By id; reads all rows and all blocks of the merchant. */
  unchained: {
    name: 'movement_blocks_unchained',
    text: `WITH chained AS MATERIALIZED (
             SELECT unnest(row_ids) AS id FROM movement_blocks WHERE merchant_id = $1
           )
           SELECT id::text AS id, ${line} AS line FROM ledger_movements
           WHERE merchant_id = $1 AND id > $2 AND id < $3
             AND NOT EXISTS (SELECT 1 FROM chained WHERE chained.id = ledger_movements.id)
           ORDER BY ledger_movements.id LIMIT $4`,
  },
  /** From the primary key alone. */
  count: {
    name: 'movement_blocks_count_rows',
    text: 'SELECT count(*) AS count FROM ledger_movements WHERE merchant_id = $1 AND id < $2',
  },
  /** Of two processes that add the block of one number, one does: the other changes no row. */
  insert: {
    name: 'movement_blocks_insert',
    text: `INSERT INTO movement_blocks (merchant_id, number, hash, row_ids, row_checks, rows_total, through_id, chained_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (merchant_id, number) DO NOTHING`,
  },
  /** In the order of their numbers. */
  blocks: {
    name: 'movement_blocks_list',
    text: `SELECT number, hash, rows_total AS "rowsTotal", through_id AS "throughId", row_ids AS "rowIds", row_checks AS "rowChecks", chained_at AS "chainedAt"
           FROM movement_blocks WHERE merchant_id = $1 AND number > $2 ORDER BY number LIMIT $3`,
  },
  /** In the order of the chain, also rows that are gone. */
  rows: {
    name: 'movement_blocks_rows',
    text: `SELECT named.number, named.id::text AS id, CASE WHEN ledger_movements.id IS NULL THEN NULL ELSE ${line} END AS line
           FROM (
             SELECT movement_blocks.number, ids.id, ids.position
             FROM movement_blocks CROSS JOIN LATERAL unnest(row_ids) WITH ORDINALITY AS ids (id, position)
             WHERE movement_blocks.merchant_id = $1 AND number BETWEEN $2 AND $3
           ) AS named
           LEFT JOIN ledger_movements ON ledger_movements.merchant_id = $1 AND ledger_movements.id = named.id
           ORDER BY named.number, named.position`,
  },
});
