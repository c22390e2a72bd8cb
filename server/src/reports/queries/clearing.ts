import { rowsBy } from '../../kit/run-statement.ts';

/** Money that waits in an account that has to be empty in the end: one record's. */
export interface OpenItem {
  merchantId: string;
  testMode: boolean;
  account: 'suspense' | 'unmatched' | 'held';
  /** Why it is there: the kind of its open case, or what a transfer waits for; null where nothing says so. */
  cause: string | null;
  sourceType: string;
  sourceId: string;
  amountMinor: bigint;
  since: Date;
}

/**
 * Every open item, oldest first. Of `suspense` and `unmatched` it reads the movements that ever were there, from an index of
 * them alone, and of `held` the open holds. A case is about the record of the money, or names it in its reference.
 */
export const listOpenItems = rowsBy<OpenItem, [rowsMax: number]>({
  name: 'reports_open_items',
  text: `-- across merchants: the operator watches the clearing accounts of all
         WITH moved AS (
           SELECT merchant_id, credit_account AS account, source_type, source_id, amount, created_at FROM ledger_movements
           WHERE (credit_account IN ('suspense', 'unmatched') OR debit_account IN ('suspense', 'unmatched'))
             AND credit_account IN ('suspense', 'unmatched')
           UNION ALL
           SELECT merchant_id, debit_account, source_type, source_id, -amount, created_at FROM ledger_movements
           WHERE (credit_account IN ('suspense', 'unmatched') OR debit_account IN ('suspense', 'unmatched'))
             AND debit_account IN ('suspense', 'unmatched')
         ), open AS (
           SELECT merchant_id, account, min(source_type) AS source_type, source_id, sum(amount)::bigint AS amount,
                  min(created_at) AS since
           FROM moved GROUP BY merchant_id, account, source_id HAVING sum(amount) <> 0
           UNION ALL
           SELECT merchant_id, 'held', source_type, source_id, amount, created_at FROM ledger_holds WHERE status = 'open'
         )
         SELECT open.merchant_id AS "merchantId", merchants.test_mode AS "testMode", open.account,
                COALESCE(reason.kind, transfers.waiting_for,
                         CASE WHEN transfers.status = 'pending' THEN 'in_progress' END) AS cause,
                open.source_type AS "sourceType", open.source_id AS "sourceId", open.amount AS "amountMinor", open.since
         FROM open JOIN merchants ON merchants.id = open.merchant_id
         LEFT JOIN LATERAL (
           SELECT kind FROM cases
           WHERE cases.merchant_id = open.merchant_id AND cases.status = 'open'
             AND (cases.subject_id = open.source_id OR cases.reference LIKE '% ' || open.source_id)
           ORDER BY cases.id LIMIT 1
         ) AS reason ON true
         LEFT JOIN transfers ON transfers.merchant_id = open.merchant_id AND transfers.id = open.source_id
         ORDER BY open.since, open.source_id LIMIT $1`,
});
