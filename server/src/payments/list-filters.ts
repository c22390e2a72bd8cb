import { columnPart, commonParts, listClause, termPart } from '../kit/list-clause.ts';
import type { Clause, ClausePart } from '../kit/list-clause.ts';
import type { ChargeStatus } from './charge.ts';
import type { IntentStatus } from './intent.ts';
import { eitherPart, intentPart, ofIntents, sharePart } from './queries/intent-part.ts';
import { payerPart } from './queries/payer-part.ts';

/** What a list may be narrowed by; absent is no filter. */
export interface IntentFilter {
  status?: IntentStatus;
  from?: Date;
  to?: Date;
  term?: string;
  now: Date;
}

export interface ChargeFilter {
  status?: ChargeStatus;
  /** Of the payments of this customer. */
  customerId?: string;
  /** Paid at this counter. */
  terminalId?: string;
  /** Paid through this link. */
  paymentLinkId?: string;
  /** Of which this sub-account has a share. */
  subAccountId?: string;
  from?: Date;
  to?: Date;
  term?: string;
}

export function intentFilterClause(filter: IntentFilter, before: string | null): Clause {
  const parts: ClausePart[] = [];
  if (filter.status !== undefined) parts.push(statusPart(filter.status, filter.now));
  parts.push(...commonParts('payment_intents', filter, before));
  if (filter.term) parts.push(eitherPart(termPart(filter.term, intentSearchColumns), payerPart(filter.term)));
  return listClause(parts);
}

export function chargeFilterClause(filter: ChargeFilter, before: string | null): Clause {
  const parts: ClausePart[] = [];
  if (filter.status !== undefined) parts.push(columnPart('status', 'charges.status =', filter.status));
  if (filter.customerId !== undefined) parts.push(intentPart('customer', 'customer_id', filter.customerId));
  if (filter.terminalId !== undefined) parts.push(intentPart('terminal', 'terminal_id', filter.terminalId));
  if (filter.paymentLinkId !== undefined) parts.push(intentPart('link', 'payment_link_id', filter.paymentLinkId));
  if (filter.subAccountId !== undefined) parts.push(sharePart(filter.subAccountId));
  parts.push(...commonParts('charges', filter, before));
  if (filter.term) {
    // The payer stands on the intent, and in the record of each of its charges.
    parts.push(eitherPart(termPart(filter.term, chargeSearchColumns), ofIntents(payerPart(filter.term))));
  }
  return listClause(parts);
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

/** The stored status lags behind the clock: what is due to expire counts as expired (decisions, "Payments"). */
function statusPart(status: IntentStatus, now: Date): ClausePart {
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
