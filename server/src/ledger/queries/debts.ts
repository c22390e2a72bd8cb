import type { Queryable } from '../../kit/db.ts';
import type { OwedRow } from '../accounts.ts';
import type { AccountAddress } from '../queries.ts';

/**
 * What the account holds, locked until the transaction ends; undefined where it holds nothing, and where somebody else
 * has it locked: whoever collects never waits.
 */
export function tryLockAboveZero(db: Queryable, at: AccountAddress): Promise<{ balance: bigint } | undefined> {
  return db.row({
    name: 'ledger_accounts_try_lock_above_zero',
    text: `SELECT balance FROM ledger_accounts
           WHERE merchant_id = $1 AND account = $2 AND currency = $3 AND balance > 0 FOR UPDATE SKIP LOCKED`,
    values: [at.merchantId, at.account, at.currency],
  });
}

/**
 * What brought money to an account of the merchant's, the newest first, with what of it is still there: what a source has
 * repaid already, or taken back, is not. Those of which something is left come first. Looks at the newest credits only.
 */
export function listCreditsBehind(
  db: Queryable,
  query: AccountAddress & { account: 'payable_available' | 'payable_pending'; creditsMax: number; sourcesMax: number },
): Promise<{ sourceType: string; sourceId: string; leftMinor: bigint }[]> {
  const { account } = query;
  return db.rows({
    name: `ledger_movements_credits_behind_${account}`,
    // The name stands in the statement, so that the planner finds the partial index, or walks from the newest.
    text: `WITH newest AS (
             SELECT source_type, source_id, id FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND credit_account = '${account}'
             ORDER BY id DESC LIMIT $3
           ), sources AS (
             SELECT source_type, source_id, max(id::text) AS last_id FROM newest GROUP BY 1, 2
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", GREATEST(booked.amount, 0) AS "leftMinor"
           FROM sources CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN credit_account = '${account}' THEN amount ELSE -amount END)::bigint AS amount
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = sources.source_id
               AND source_type = sources.source_type AND '${account}' IN (credit_account, debit_account)
           ) AS booked
           ORDER BY booked.amount > 0 DESC, last_id DESC LIMIT $4`,
    values: [query.merchantId, query.currency, query.creditsMax, query.sourcesMax],
  });
}

/** A source that added to a debt, with what of that neither came back nor was given up, in bututs. */
export interface OwingSource {
  sourceType: string;
  sourceId: string;
  leftMinor: bigint;
}

// Which movements on a debt's account are the source's own: not who repays, and not what of a repayment is given back.
const owingConditions = {
  receivable_merchant: {
    account: "'receivable_merchant'",
    flows: "flow NOT IN ('debt_repaid', 'debt_recovered', 'repayment_returned')",
  },
  sub_owed: {
    account: '$3',
    flows: "flow IN ('advanced', 'reversed', 'advance_undone', 'debt_waived')",
  },
} as const;

/** What a debt consists of, the newest source first; those of which nothing is left are not in it. */
export function listOwingSources(
  db: Queryable,
  query: AccountAddress & { kind: keyof typeof owingConditions; sourcesMax: number },
): Promise<OwingSource[]> {
  const { account, flows } = owingConditions[query.kind];
  // The prefix stands in the statement, so that the planner finds the partial index.
  const debits =
    query.kind === 'sub_owed'
      ? `debit_account = ${account} AND debit_account LIKE 'sub_owed:%'`
      : `debit_account = ${account}`;
  return db.rows({
    name: `ledger_movements_owing_sources_${query.kind}`,
    text: `WITH sources AS (
             SELECT source_type, source_id, max(id::text) AS last_id FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND ${debits} AND ${flows} GROUP BY 1, 2
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", booked.amount AS "leftMinor"
           FROM sources CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN debit_account = ${account} THEN amount ELSE -amount END)::bigint AS amount
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = sources.source_id
               AND source_type = sources.source_type AND $3 IN (debit_account, credit_account) AND ${flows}
           ) AS booked
           WHERE booked.amount > 0 ORDER BY last_id DESC LIMIT $4`,
    values: [query.merchantId, query.currency, query.account, query.sourcesMax],
  });
}

/** What these sources together have repaid of the merchant's debt and not taken back, in bututs as text. */
export async function sumRepaidBySources(
  db: Queryable,
  query: { merchantId: string; currency: string; sourceIds: readonly string[] },
): Promise<bigint> {
  const row = await db.row<{ sum: string }>({
    name: 'ledger_movements_sum_repaid_by_sources',
    text: `SELECT COALESCE(sum(CASE WHEN credit_account = 'receivable_merchant' THEN amount ELSE -amount END), 0)::text AS sum
           FROM ledger_movements
           WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
             AND flow IN ('debt_repaid', 'debt_reopened', 'debt_undone')
             AND 'receivable_merchant' IN (debit_account, credit_account)`,
    values: [query.merchantId, query.currency, query.sourceIds],
  });
  return BigInt(row?.sum ?? '0');
}

/**
 * Every account of these kinds, which grow by debits, that holds something. Read from the index of debts, and from the
 * movements of those accounts alone: each part has the condition of one of the partial indexes, which a joined account's
 * name would not tell the planner.
 */
export function listOwedRows(db: Queryable, kinds: readonly string[]): Promise<OwedRow[]> {
  return db.rows({
    name: 'ledger_accounts_owed',
    text: `-- across merchants: the operator watches all debts
           WITH parts AS (
             SELECT merchant_id, account, currency, balance AS amount FROM ledger_accounts
             WHERE kind IN ('receivable_merchant', 'sub_owed') AND kind = ANY ($1::text[])
             UNION ALL
             SELECT merchant_id, account, currency, amount FROM ledger_deltas
             WHERE split_part(account, ':', 1) = ANY ($1::text[])
           ), owed AS (
             SELECT merchant_id, account, currency, sum(amount)::bigint AS amount FROM parts
             GROUP BY 1, 2, 3 HAVING sum(amount) > 0
           ), grown AS (
             SELECT owed.merchant_id, owed.account, owed.currency, owed.amount, movement.created_at,
                    sum(movement.amount) OVER (PARTITION BY owed.merchant_id, owed.account, owed.currency
                                               ORDER BY movement.id DESC) AS newer
             FROM owed CROSS JOIN LATERAL (
               SELECT id, created_at, amount FROM ledger_movements
               WHERE merchant_id = owed.merchant_id AND debit_account = owed.account AND currency = owed.currency
                 AND debit_account = 'receivable_merchant'
               UNION ALL
               SELECT id, created_at, amount FROM ledger_movements
               WHERE merchant_id = owed.merchant_id AND debit_account = owed.account AND currency = owed.currency
                 AND debit_account LIKE 'sub_owed:%'
             ) AS movement
           )
           SELECT merchant_id AS "merchantId", account, currency, amount AS "amountMinor",
                  max(created_at) FILTER (WHERE newer >= amount) AS since
           FROM grown GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3`,
    values: [kinds],
  });
}
