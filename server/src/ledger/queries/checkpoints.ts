import type { Queryable, Statement, Transaction } from '../../kit/db.ts';
import { rowsBy, statementBy } from '../../kit/run-statement.ts';
import { sweptIdsBy } from '../../kit/sweep.ts';
import type { LedgerRow } from '../queries.ts';
import { lastId } from './history.ts';
import { placeholders } from '../../kit/placeholders.ts';

/** How far a merchant's checkpoint goes, and the last finding. */
export interface LedgerCheck {
  throughId: string;
  checkedAt: Date;
  problem: string | null;
}

/** An account whose figures disagree. */
export type CheckedRow = Omit<LedgerRow, 'merchantId' | 'movements'>;

// The balance by the movements of a range of ids: each counts on its two accounts, with the sign of their kinds.
const signed = (side: string, grows: string, shrinks: string) =>
  `CASE WHEN split_part(${side}, ':', 1) = ANY ($2::text[]) THEN ${grows} ELSE ${shrinks} END`;
const debited = `SELECT debit_account AS account, currency, ${signed('debit_account', 'amount', '-amount')} AS moved
  FROM ledger_movements WHERE merchant_id = $1`;
const credited = `SELECT credit_account AS account, currency, ${signed('credit_account', '-amount', 'amount')} AS moved
  FROM ledger_movements WHERE merchant_id = $1`;

/** Merchants that nobody has checked since `before`, in the order of their ids. */
export const listMerchantsToCheck = sweptIdsBy<[{ before: Date; after: string; rowsMax: number }]>({
  name: 'ledger_checks_due',
  text: `-- across merchants: a worker checks the ledgers of all
         SELECT merchant_places.merchant_id AS id FROM merchant_places
         WHERE merchant_places.merchant_id > $2 AND NOT EXISTS (
           SELECT 1 FROM ledger_checks
           WHERE ledger_checks.merchant_id = merchant_places.merchant_id AND checked_at > $1
         )
         ORDER BY merchant_places.merchant_id LIMIT $3`,
  values: ({ before, after, rowsMax }) => [before, after, rowsMax],
});

/** Creates the row of a merchant that was never checked. */
export const insertCheckOnce = statementBy<[merchantId: string, LedgerCheck]>({
  name: 'ledger_checks_insert_once',
  text: `INSERT INTO ledger_checks (merchant_id, through_id, checked_at) VALUES ($1, $2, $3)
         ON CONFLICT (merchant_id) DO NOTHING`,
  values: (merchantId, { throughId, checkedAt }) => [merchantId, throughId, checkedAt],
});

/** Locks the merchant's check; undefined while another process has it. */
export function lockCheck(tx: Transaction, merchantId: string): Promise<LedgerCheck | undefined> {
  return tx.row<LedgerCheck>({
    name: 'ledger_checks_lock',
    text: `SELECT through_id AS "throughId", checked_at AS "checkedAt", problem FROM ledger_checks
           WHERE merchant_id = $1 FOR UPDATE SKIP LOCKED`,
    values: [merchantId],
  });
}

/** Of a locked check. */
export const updateCheck = statementBy<[merchantId: string, LedgerCheck]>({
  name: 'ledger_checks_update',
  text: 'UPDATE ledger_checks SET through_id = $2, checked_at = $3, problem = $4 WHERE merchant_id = $1',
  values: (merchantId, { throughId, checkedAt, problem }) => [merchantId, throughId, checkedAt, problem],
});

/**
 * The accounts of one merchant that are wrong, in one snapshot: the stored balance against the checkpoint and the movements after
 * `throughId`, guarded accounts below zero, and `held` against the open holds. Reads the new movements only; with a `throughId`
 * of before all, and no checkpoint, all of them.
 */
export function listWrongAccounts(
  db: Queryable,
  merchantId: string,
  query: { debitKinds: readonly string[]; guardedKinds: readonly string[]; throughId: string; usesCheckpoint: boolean },
): Promise<CheckedRow[]> {
  return db.rows<CheckedRow>({
    name: 'ledger_checks_wrong_accounts',
    text: `WITH parts AS (
             SELECT account, currency, balance AS stored, 0 AS moved, 0 AS open FROM ledger_accounts WHERE merchant_id = $1
             UNION ALL
             SELECT account, currency, amount, 0, 0 FROM ledger_deltas WHERE merchant_id = $1
             UNION ALL
             SELECT account, currency, 0, moved, 0 FROM ledger_checkpoints WHERE merchant_id = $1 AND $5
             UNION ALL
             SELECT account, currency, 0, moved, 0 FROM (${debited} AND id > $4 AND id <= '${lastId}') AS debits
             UNION ALL
             SELECT account, currency, 0, moved, 0 FROM (${credited} AND id > $4 AND id <= '${lastId}') AS credits
             UNION ALL
             SELECT 'held', currency, 0, 0, amount FROM ledger_holds WHERE merchant_id = $1 AND status = 'open'
           ), sums AS (
             SELECT account, currency, split_part(account, ':', 1) AS kind, sum(stored) AS stored, sum(moved) AS moved,
                    sum(open) AS open
             FROM parts GROUP BY account, currency
           )
           SELECT account, currency, kind, stored::text AS stored, moved::text AS moved, open::text AS open FROM sums
           WHERE stored <> moved OR (stored < 0 AND kind = ANY ($3::text[])) OR (kind = 'held' AND stored <> open)
           ORDER BY account, currency LIMIT 20`,
    values: [merchantId, query.debitKinds, query.guardedKinds, query.throughId, query.usesCheckpoint],
  });
}

/** The highest of the next movements up to an id; null where there are none. */
export async function findCheckpointEnd(
  db: Queryable,
  merchantId: string,
  { throughId, beforeId, rowsMax }: { throughId: string; beforeId: string; rowsMax: number },
): Promise<{ id: string; count: bigint } | null> {
  const row = await db.row<{ id: string | null; count: bigint }>({
    name: 'ledger_checkpoints_end',
    text: `SELECT (array_agg(id ORDER BY id DESC))[1] AS id, count(*) AS count FROM (
             SELECT id FROM ledger_movements WHERE merchant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4
           ) AS next`,
    values: [merchantId, throughId, beforeId, rowsMax],
  });
  return row?.id ? { id: row.id, count: row.count } : null;
}

/** What the movements after one id, up to and with another, change on each account; in bututs as text. */
export const sumMovementsBetween = rowsBy<
  { account: string; currency: string; moved: string },
  [merchantId: string, { debitKinds: readonly string[]; afterId: string; throughId: string }]
>({
  name: 'ledger_checkpoints_sum',
  text: `SELECT account, currency, sum(moved)::text AS moved FROM (
           ${debited} AND id > $3 AND id <= $4
           UNION ALL
           ${credited} AND id > $3 AND id <= $4
         ) AS sides GROUP BY account, currency`,
  values: (merchantId, { debitKinds, afterId, throughId }) => [merchantId, debitKinds, afterId, throughId],
});

/** Adds to the checkpoint of each account. */
export function addToCheckpoints(
  merchantId: string,
  sums: readonly { account: string; currency: string; moved: string }[],
): Statement {
  return {
    name: `ledger_checkpoints_add_${sums.length}`,
    text: `INSERT INTO ledger_checkpoints (merchant_id, account, currency, moved) VALUES ${placeholders(sums.length, 4)}
           ON CONFLICT (merchant_id, account, currency)
           DO UPDATE SET moved = ledger_checkpoints.moved + excluded.moved`,
    values: sums.flatMap(({ account, currency, moved }) => [merchantId, account, currency, moved]),
  };
}

export const deleteCheckpoints = statementBy<[merchantId: string]>({
  name: 'ledger_checkpoints_delete',
  text: 'DELETE FROM ledger_checkpoints WHERE merchant_id = $1',
});

/** For the operator's figures: since when the merchant that was checked longest ago has not been, and how many are wrong. */
export async function summarizeChecks(db: Queryable): Promise<{ oldest: Date | null; wrong: bigint }> {
  const row = await db.row<{ oldest: Date | null; wrong: bigint }>({
    name: 'ledger_checks_summary',
    text: `-- across merchants: the operator watches all
           SELECT min(checked_at) AS oldest, count(*) FILTER (WHERE problem IS NOT NULL) AS wrong FROM ledger_checks`,
    values: [],
  });
  return row ?? { oldest: null, wrong: 0n };
}
