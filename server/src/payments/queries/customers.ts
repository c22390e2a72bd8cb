import { rowsBy } from '../../kit/run-statement.ts';

/** What one customer has paid so far. */
export interface PaidByCustomer {
  customerId: string;
  count: bigint;
  /** In bututs, less what was refunded and what networks took back. */
  paidMinor: bigint;
  lastPaidAt: Date;
}

/** One row for each of the customers that has paid. */
export const listPaidByCustomers = rowsBy<PaidByCustomer, [merchantId: string, customerIds: readonly string[]]>({
  name: 'payment_intents_paid_by_customers',
  text: `SELECT intents.customer_id AS "customerId", count(DISTINCT intents.id) AS count,
           sum(COALESCE(charges.amount_received, charges.amount_paid) - charges.amount_refunded
             - charges.amount_reversed)::bigint AS "paidMinor",
           max(charges.paid_at) AS "lastPaidAt"
         FROM payment_intents AS intents
         JOIN charges ON charges.merchant_id = intents.merchant_id AND charges.intent_id = intents.id
         WHERE intents.merchant_id = $1 AND intents.customer_id = ANY ($2::uuid[])
           AND charges.status IN ('completed', 'refunded') AND charges.paid_at IS NOT NULL
         GROUP BY intents.customer_id`,
});
