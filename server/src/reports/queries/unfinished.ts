import { rowsBy } from '../../kit/run-statement.ts';

/** Payments, or transfers of any kind, of an environment that are under way and that nothing will finish. */
export interface Unfinished {
  record: 'payment' | 'transfer';
  testMode: boolean;
  count: bigint;
  /** The one that has been so for longest. */
  oldestId: string;
  since: Date;
}

/**
 * Records that are under way, unchanged since a time, without work in the outbox and without an open case; no row where there are
 * none. Both kinds are read from an index of what is open.
 */
export const countUnfinished = rowsBy<Unfinished, [unchangedSince: Date]>({
  name: 'reports_unfinished',
  text: `-- across merchants: the operator watches the work of all
         WITH unfinished AS (
           SELECT 'payment' AS record, charges.merchant_id, charges.intent_id AS id, charges.updated_at
           FROM payment_intents JOIN charges
             ON charges.merchant_id = payment_intents.merchant_id AND charges.intent_id = payment_intents.id
           WHERE payment_intents.status = 'processing' AND charges.status = 'pending' AND charges.updated_at < $1
             AND charges.abandoned_at IS NULL
             AND NOT EXISTS (SELECT FROM outbox WHERE outbox.merchant_id = charges.merchant_id AND outbox.subject_id = charges.id
               AND outbox.kind IN ('start_charge', 'look_up_charge', 'cancel_charge', 'recheck_charge', 'match_receipt'))
             AND NOT EXISTS (SELECT FROM cases WHERE cases.merchant_id = charges.merchant_id AND cases.status = 'open'
               AND cases.subject_id = charges.id)
           UNION ALL
           SELECT 'transfer', transfers.merchant_id, transfers.id, transfers.updated_at
           FROM ledger_holds JOIN transfers
             ON transfers.merchant_id = ledger_holds.merchant_id AND transfers.id = ledger_holds.source_id
           WHERE ledger_holds.status = 'open' AND transfers.status = 'pending' AND transfers.updated_at < $1
             AND NOT EXISTS (SELECT FROM outbox WHERE outbox.merchant_id = transfers.merchant_id
               AND outbox.subject_id = transfers.id
               AND outbox.kind IN ('send_transfer', 'look_up_transfer', 'recheck_transfer'))
             AND NOT EXISTS (SELECT FROM cases WHERE cases.merchant_id = transfers.merchant_id AND cases.status = 'open'
               AND cases.subject_id = transfers.id)
         )
         SELECT record, merchants.test_mode AS "testMode", count(*) AS count,
                (array_agg(unfinished.id ORDER BY unfinished.updated_at))[1] AS "oldestId",
                min(unfinished.updated_at) AS since
         FROM unfinished JOIN merchants ON merchants.id = unfinished.merchant_id
         GROUP BY record, merchants.test_mode`,
});
