import type { Queryable } from '../../kit/db.ts';
import { rowBy, rowsBy } from '../../kit/run-statement.ts';
import type { AccountKey, AccountKind, MerchantCurrency, OwedRow } from '../accounts.ts';

/**
 * Locks an account with a balance above zero until the transaction ends; undefined where it is zero, and where another
 * transaction has it locked: collecting never waits.
 */
export const tryLockAboveZero = rowBy<{ balance: bigint }, [key: AccountKey]>({
  name: 'ledger_accounts_try_lock_above_zero',
  text: `SELECT balance FROM ledger_accounts
         WHERE merchant_id = $1 AND account = $2 AND currency = $3 AND balance > 0 FOR UPDATE SKIP LOCKED`,
  values: (key) => [key.merchantId, key.account, key.currency],
  emptyForAll: true,
});

/**
 * The sources of the newest credits of one of the merchant's accounts, newest first, each with what is left of its credit:
 * less what it repaid or reversed. Sources with something left come first.
 */
export function listCreditsBehind(
  db: Queryable,
  query: AccountKey & { account: 'payable_available' | 'payable_pending'; creditsMax: number; sourcesMax: number },
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

/** A source that added to a debt, with what of that was neither returned nor waived or written off, in bututs. */
export interface OwingSource {
  sourceType: string;
  sourceId: string;
  leftMinor: bigint;
}

// Which movements on a debt's account are the source's own: no repayments and no returned repayments.
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

/** The sources that a debt consists of, newest first, without those of which nothing is left. */
export function listOwingSources(
  db: Queryable,
  query: AccountKey & { kind: keyof typeof owingConditions; sourcesMax: number },
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

/**
 * What a payment and its refunds have repaid of the merchant's debt and not returned, in bututs: as much as a refund of it
 * may owe again.
 */
export async function repaidBy(
  db: Queryable,
  query: MerchantCurrency & { sourceIds: readonly string[] },
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
 * Every merchant's debts of these kinds that are above zero. Reads the index of debts and the movements of those accounts
 * alone: each part repeats the condition of a partial index, which the planner cannot infer from a joined account's name.
 */
export const listOwedAccounts = rowsBy<OwedRow, [kinds: readonly AccountKind[]]>({
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
});
