import { rowsBy } from '../../kit/run-statement.ts';
import type { Account } from '../../ledger/accounts.ts';

/** How attempts to collect ended at a network, by rail account; null for those of an earlier release. */
export interface NetworkAttempts {
  network: string;
  railAccount: string | null;
  paidCount: bigint;
  failedCount: bigint;
}

/** Of attempts with such an id or a later one, which were made since a time: ids of version 7 count up with it. */
export const countAttemptsByNetwork = rowsBy<NetworkAttempts, [{ testMode: boolean; firstId: string }]>({
  name: 'reports_attempts_by_network',
  text: `-- across merchants: the operator watches the networks
         SELECT network, rail_account AS "railAccount", count(*) FILTER (WHERE status IN ('completed', 'refunded', 'reversed')) AS "paidCount",
           count(*) FILTER (WHERE status = 'failed') AS "failedCount"
         FROM merchant_places JOIN merchants ON merchants.id = merchant_places.merchant_id
         CROSS JOIN LATERAL (
           SELECT network, rail_account, status FROM charges
           WHERE charges.merchant_id = merchant_places.merchant_id AND charges.id >= $2
         ) AS attempts
         WHERE test_mode = $1 GROUP BY network, rail_account`,
  values: ({ testMode, firstId }) => [testMode, firstId],
});

/** What these accounts of all merchants of an environment hold together, in bututs; one without movements has no row. */
export const sumAccounts = rowsBy<
  { account: Account; amountMinor: bigint },
  [{ testMode: boolean; accounts: readonly Account[] }]
>({
  name: 'reports_sum_accounts',
  text: `-- across merchants: a float is one account at the network, whoever's money it holds
         SELECT account, sum(amount)::bigint AS "amountMinor" FROM (
           SELECT merchant_id, account, balance AS amount FROM ledger_accounts WHERE account = ANY ($2::text[])
           UNION ALL
           SELECT merchant_id, account, amount FROM ledger_deltas WHERE account = ANY ($2::text[])
         ) AS parts
         WHERE merchant_id IN (SELECT id FROM merchants WHERE test_mode = $1) GROUP BY account`,
  values: ({ testMode, accounts }) => [testMode, accounts],
});

/** Payouts of one merchant that a network does not take now from one rail account. */
export interface WaitingPayouts {
  network: string;
  /** Null for payouts of an earlier release. */
  railAccount: string | null;
  merchantId: string;
  count: bigint;
  /** With their fees: what is held for them. */
  heldMinor: bigint;
  oldestAt: Date;
  nextTryAt: Date;
}

/** By network, merchant and rail account, of these queues. */
export const listWaitingPayouts = rowsBy<WaitingPayouts, [queues: readonly string[]]>({
  name: 'reports_waiting_payouts',
  text: `-- across merchants: the operator watches the networks
         SELECT transfers.network, transfers.merchant_id AS "merchantId", rail_account AS "railAccount", count(*) AS count,
           sum(amount + fee)::bigint AS "heldMinor", min(transfers.created_at) AS "oldestAt", min(due_at) AS "nextTryAt"
         FROM outbox JOIN transfers ON transfers.merchant_id = outbox.merchant_id AND transfers.id = outbox.subject_id
         WHERE queue = ANY ($1::text[]) AND waiting_for IS NOT NULL AND status = 'pending'
         GROUP BY 1, 2, 3 ORDER BY "heldMinor" DESC, 2`,
});
