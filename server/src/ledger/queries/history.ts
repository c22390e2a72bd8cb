import { assert } from '../../kit/assert.ts';
import type { Queryable } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';
import type { Account, AccountKey, MerchantCurrency } from '../accounts.ts';

/** One movement, seen from the requested accounts; sums in bututs as text. */
export interface HistoryRow {
  id: string;
  at: Date;
  flow: string;
  sourceType: string;
  sourceId: string;
  /** Above zero for a credit. */
  credited: bigint;
}

/** A movement behind a balance; `id` is null in the one row of an empty page. */
export type MovementBehind = { stored: string; creditedLater: string; creditedAfter: string } & (
  | HistoryRow
  | { id: null }
);

/** No id of version 7 is higher. As the upper end of a range it shows the planner that only a part is read. */
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const historyColumns = `id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId"`;

// The conditions of the partial indexes, so that the planner uses them: it cannot infer them from an account's name in a
// parameter. The other accounts have no index.
const inIndex = {
  pending: (side: string) => `${side} = $2 AND ${side} = 'payable_pending'`,
  receivable: (side: string) => `${side} = $2 AND ${side} = 'receivable_merchant'`,
  sub: (side: string) => `${side} = $2 AND ${side} LIKE 'sub:%'`,
  sub_owed: (side: string) => `${side} = $2 AND ${side} LIKE 'sub_owed:%'`,
};

// Nearly every movement touches payable_available. With that name in the statement the planner walks the merchant's
// movements from the newest instead of reading them all.
function historyKindOf(account: Account): keyof typeof inIndex | 'available' | 'any' {
  if (account === 'payable_pending') return 'pending';
  if (account === 'payable_available') return 'available';
  if (account === 'receivable_merchant') return 'receivable';
  if (account.startsWith('sub_owed:')) return 'sub_owed';
  return account.startsWith('sub:') ? 'sub' : 'any';
}

// More than a page of any caller. It is a constant in the statement, as in outbox_claim, and for the same reason.
const historyRowsMax = 1_024;

/**
 * An account's movements up to `at` and before the movement `before`, newest first, in one snapshot with the stored
 * balance, the sum of the credits after the first of them, and the sum of the credits after `at`. There is at least one
 * row; its `id` is null where there is no movement.
 *
 * The newest page reads only itself. A later page, or one of an earlier moment, also sums the account's movements since,
 * from `laterFrom` on, so its cost grows with how far back it goes, up to the statement timeout. An account without an
 * index is filtered from all of the merchant's movements.
 */
export function listMovementsBehind(
  db: Queryable,
  query: AccountKey & { at: Date | null; before: string; laterFrom: string; rowsMax: number },
): Promise<MovementBehind[]> {
  assert(query.rowsMax <= historyRowsMax, 'a page has no more rows than the statement returns');
  const kind = historyKindOf(query.account);
  const named = kind === 'available' ? "'payable_available'" : '$2';
  const credited = 'CASE WHEN credit_account = $2 THEN amount ELSE -amount END';
  const newest = (touches: string, amount: string) => `
             SELECT ${historyColumns}, ${amount} AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ${touches}
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7`;
  // A movement never debits and credits the same account, so none is in both halves of the union.
  const sides = kind === 'available' || kind === 'any' ? null : inIndex[kind];
  const touches = sides
    ? `((${sides('debit_account')}) OR (${sides('credit_account')}))`
    : `(debit_account = ${named} OR credit_account = ${named})`;
  const page = sides
    ? `(${newest(sides('credit_account'), 'amount')}) UNION ALL (${newest(sides('debit_account'), '-amount')})`
    : newest(touches, credited);
  return db.rows({
    name: `ledger_movements_behind_${kind}`,
    text: `WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(${credited}), 0) AS credited,
                    COALESCE(sum(${credited}) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ${touches}
               AND id BETWEEN $6 AND '${lastId}' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM (${page}) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT ${historyRowsMax}
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC`,
    values: [query.merchantId, query.account, query.currency, query.at, query.before, query.laterFrom, query.rowsMax],
  });
}

/** The movements of the money that can be spent, between two times, after the movement `after`. */
export interface SpendableQuery extends MerchantCurrency {
  from: Date;
  to: Date;
  after: string | null;
}

// Nearly every movement touches payable_available, so the merchant's movements are walked by their ids, from the first that
// can be of the period to the last: an id is made right after its time is read.
const spendable = `merchant_id = $1 AND currency = $2
  AND (debit_account = 'payable_available' OR credit_account = 'payable_available')
  AND created_at >= $3 AND created_at <= $4`;
const spendableChange = `CASE WHEN credit_account = 'payable_available' THEN amount ELSE -amount END`;

/** Oldest first. `idMin` is excluded, `idMax` is not. */
export const listSpendableMovements = rowsBy<
  HistoryRow,
  [query: SpendableQuery & { idMin: string; idMax: string; rowsMax: number }]
>({
  name: 'ledger_movements_spendable',
  text: `SELECT ${historyColumns}, ${spendableChange} AS credited FROM ledger_movements
         WHERE ${spendable} AND id > $5 AND id <= $6 ORDER BY id LIMIT $7`,
  values: (query) => [query.merchantId, query.currency, query.from, query.to, query.idMin, query.idMax, query.rowsMax],
});

/** What one flow of one kind of record changed, in bututs as text. */
export interface FlowSum {
  flow: string;
  sourceType: string;
  count: bigint;
  credited: string;
  debited: string;
}

/** The same movements, summed. */
export const sumSpendableMovements = rowsBy<FlowSum, [query: SpendableQuery & { idMin: string; idMax: string }]>({
  name: 'ledger_movements_sum_spendable',
  text: `SELECT flow, source_type AS "sourceType", count(*) AS count,
           COALESCE(sum(amount) FILTER (WHERE credit_account = 'payable_available'), 0)::text AS credited,
           COALESCE(sum(amount) FILTER (WHERE debit_account = 'payable_available'), 0)::text AS debited
         FROM ledger_movements
         WHERE ${spendable} AND id > $5 AND id <= $6 GROUP BY flow, source_type ORDER BY flow, source_type`,
  values: (query) => [query.merchantId, query.currency, query.from, query.to, query.idMin, query.idMax],
});

/** A movement with the balance after it; `id` is null in the one row of an empty page. */
export type StatementRow = { opening: string; closing: string } & ((HistoryRow & { balance: string }) | { id: null });

/** `from` and `to` are included, null is no bound; `after` is the last movement of the previous page. */
export interface StatementQuery extends MerchantCurrency {
  accounts: readonly Account[];
  from: Date | null;
  to: Date | null;
  after: string | null;
  rowsMax: number;
}

/**
 * The movements of a sub-account's accounts taken together, oldest first, after the movement `after`, without those from one
 * of them to another. Opening and closing balance are of the whole period, in the same snapshot.
 */
export function listStatementRows(db: Queryable, query: StatementQuery): Promise<StatementRow[]> {
  return db.rows({
    name: 'ledger_movements_statement',
    text: `WITH sides AS (
             SELECT ${historyColumns}, amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND credit_account = ANY ($3::text[])
               AND credit_account LIKE 'sub:%' AND NOT debit_account = ANY ($3::text[])
             UNION ALL
             SELECT ${historyColumns}, -amount FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND debit_account = ANY ($3::text[])
               AND debit_account LIKE 'sub:%' AND NOT credit_account = ANY ($3::text[])
           ), lines AS (
             SELECT sides.*, sum(credited) OVER (ORDER BY at, id)::text AS balance FROM sides
             WHERE $5::timestamptz IS NULL OR at <= $5
           ), totals AS (
             SELECT COALESCE(sum(credited) FILTER (WHERE at < $4), 0)::text AS opening,
                    COALESCE(sum(credited), 0)::text AS closing
             FROM lines
           ), page AS (
             SELECT * FROM lines
             WHERE ($4::timestamptz IS NULL OR at >= $4)
               AND ($6::uuid IS NULL OR (at, id) > (SELECT sides.at, sides.id FROM sides WHERE sides.id = $6))
             ORDER BY at, id LIMIT $7
           )
           SELECT totals.opening, totals.closing, page.* FROM totals LEFT JOIN page ON true ORDER BY page.at, page.id`,
    values: [query.merchantId, query.currency, query.accounts, query.from, query.to, query.after, query.rowsMax],
  });
}
