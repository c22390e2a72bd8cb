import { columnFilter, type ListFilter } from '../../api/list-filter.ts';
import { rowsBy } from '../../kit/run-statement.ts';
import { firstIdAt } from '../../kit/ids.ts';
import type { Charge } from '../charge.ts';
import { chargeColumns } from './charges.ts';

// An attempt of a payment that another attempt has paid waits for nothing.
const unpaid = `charges.merchant_id = $1 AND received_directly AND paid_at IS NULL AND NOT EXISTS (
             SELECT FROM payment_intents AS paid
             WHERE paid.merchant_id = $1 AND paid.id = charges.intent_id AND paid.status = 'successful'
           )`;

/** Unpaid charges of a till and an amount that were opened in a time, the newest first. */
export const listUnpaidByReceipt = rowsBy<
  Charge,
  [query: { merchantId: string; railAccount: string; amountMinor: bigint; start: Date; end: Date; rowsMax: number }]
>({
  name: 'charges_list_unpaid_by_receipt',
  text: `SELECT ${chargeColumns} FROM charges
         WHERE ${unpaid} AND rail_account = $2 AND amount_paid = $3 AND id >= $4 AND id < $5
         ORDER BY id DESC LIMIT $6`,
  values: (query) => [
    query.merchantId,
    query.railAccount,
    query.amountMinor,
    firstIdAt(query.start),
    firstIdAt(query.end),
    query.rowsMax,
  ],
});

/**
 * Of a list of receipts those that may belong to a payment: dated since a time, with an id that somebody typed, or with an unpaid
 * payment of the same till and amount around their time.
 */
export function mayBelongFilter({ since, aroundMs }: { since: Date; aroundMs: number }): ListFilter[] {
  const around = `${aroundMs / 1_000} seconds`;
  return [
    ...columnFilter('since', 'dated_at >=', since),
    {
      name: 'may_belong',
      text: (next) => `(EXISTS (
             SELECT FROM typed_ids WHERE typed_ids.merchant_id = $1 AND typed_ids.rail_account = receipts.rail_account
               AND typed_ids.transaction_key = receipts.transaction_key
           ) OR EXISTS (
             SELECT FROM charges WHERE ${unpaid} AND charges.rail_account = receipts.rail_account
               AND charges.amount_paid = receipts.amount AND charges.created_at >= receipts.dated_at - ${next()}::interval
               AND charges.created_at < receipts.dated_at + ${next()}::interval
           ))`,
      values: [around, around],
    },
  ];
}
