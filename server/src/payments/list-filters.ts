import { columnFilter, createdFilter, termFilter } from '../kit/list-filter.ts';
import type { ListFilter, TimeFilter } from '../kit/list-filter.ts';
import type { ChargeStatus } from './charge.ts';
import type { IntentStatus } from './intent.ts';
import { eitherFilter, intentFilter, ofIntents, shareFilter } from './queries/intent-filter.ts';
import { payerFilter } from './queries/payer-filter.ts';

/** What a list may be narrowed by; undefined is no filter. */
export interface IntentFilter extends TimeFilter {
  status?: IntentStatus | undefined;
  term?: string | undefined;
  now: Date;
}

export interface ChargeFilter extends TimeFilter {
  status?: ChargeStatus | undefined;
  /** Of the payments of this customer. */
  customerId?: string | undefined;
  /** Paid at this counter. */
  terminalId?: string | undefined;
  /** Paid through this link. */
  paymentLinkId?: string | undefined;
  /** Of which this sub-account has a share. */
  subAccountId?: string | undefined;
  term?: string | undefined;
}

export function intentFilters({ status, term, now, ...times }: IntentFilter): ListFilter[] {
  return [
    ...(status === undefined ? [] : [statusFilter(status, now)]),
    ...createdFilter('payment_intents', times),
    ...(term === undefined ? [] : [eitherFilter(termFilter(term, intentSearchColumns), payerFilter(term))]),
  ];
}

export function chargeFilters(filter: ChargeFilter): ListFilter[] {
  const { term } = filter;
  return [
    ...columnFilter('status', 'charges.status =', filter.status),
    ...intentFilter('customer', 'customer_id', filter.customerId),
    ...intentFilter('terminal', 'terminal_id', filter.terminalId),
    ...intentFilter('link', 'payment_link_id', filter.paymentLinkId),
    ...shareFilter(filter.subAccountId),
    ...createdFilter('charges', filter),
    // The payer stands on the intent, and in the record of each of its charges.
    ...(term === undefined ? [] : [eitherFilter(termFilter(term, chargeSearchColumns), ofIntents(payerFilter(term)))]),
  ];
}

const intentSearchColumns = ['title', 'description', 'id::text'];
const chargeSearchColumns = [
  'charges.account_number',
  'charges.account_canonical',
  'charges.reference',
  'charges.transaction_reference',
  'charges.network_reference',
  'charges.network_transaction_id',
  'charges.id::text',
  'charges.intent_id::text',
];

/** The stored status lags behind the clock: what is due to expire counts as expired (docs/architecture.md, "States"). */
function statusFilter(status: IntentStatus, now: Date): ListFilter {
  const overdue = (parameter: string) =>
    `status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= ${parameter}`;
  if (status === 'expired') {
    return { name: 'expired', text: (next) => `(status = 'expired' OR (${overdue(next())}))`, values: [now] };
  }
  return {
    name: 'status',
    text: (next) => `(status = ${next()} AND NOT (${overdue(next())}))`,
    values: [status, now],
  };
}
