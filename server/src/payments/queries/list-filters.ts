import { searchedNumbers } from '../../customers/identities.ts';
import { columnFilter, createdFilter, substringPattern, termFilter } from '../../api/list-filter.ts';
import type { ListFilter, TimeFilter } from '../../api/list-filter.ts';
import type { ChargeStatus } from '../charge.ts';
import type { IntentStatus } from '../intent.ts';

/** Filters of the list of intents; undefined is no filter. */
export interface IntentFilter extends TimeFilter {
  status?: IntentStatus | undefined;
  term?: string | undefined;
  now: Date;
}

/** Filters of the list of charges; undefined is no filter. */
export interface ChargeFilter extends TimeFilter {
  status?: ChargeStatus | undefined;
  /** Of the payments of this customer. */
  customerId?: string | undefined;
  /** Paid at this counter. */
  terminalId?: string | undefined;
  /** Paid through this link. */
  paymentLinkId?: string | undefined;
  /** With a share for this sub-account. */
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
    // The payer is a field of the intent, and of the record of each of its charges.
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

/** The stored status lags behind the clock: an intent that is due to expire counts as expired (docs/architecture.md, "States"). */
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

/** Charges of the intents that have this value in a column. */
function intentFilter(
  name: string,
  column: 'customer_id' | 'terminal_id' | 'payment_link_id',
  value: string | undefined,
): ListFilter[] {
  if (value === undefined) return [];
  const filter: ListFilter = {
    name,
    text: (next) =>
      `charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND ${column} = ${next()})`,
    values: [value],
  };
  return [filter];
}

/** Charges of the intents with a share for this sub-account, by itself or in a group. */
function shareFilter(subAccountId: string | undefined): ListFilter[] {
  if (subAccountId === undefined) return [];
  const filter: ListFilter = {
    name: 'sub_account',
    text: (next) =>
      `charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = ${next()})`,
    values: [subAccountId],
  };
  return [filter];
}

/**
 * Charges of the intents that a filter of intents finds, looked up one by one: in combination with another condition a list
 * of intents that is too long to be hashed in memory would be scanned again for each charge.
 */
function ofIntents(filter: ListFilter): ListFilter {
  return {
    ...filter,
    text: (next) => `EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND ${filter.text(next)}
    )`,
  };
}

function eitherFilter(left: ListFilter, right: ListFilter): ListFilter {
  return {
    name: `${left.name}_or_${right.name}`,
    text: (next) => `(${left.text(next)} OR ${right.text(next)})`,
    values: [...left.values, ...right.values],
  };
}

/**
 * Intents whose payer's name or email address contains the term, in any case, or whose number does: numbers are stored as
 * they were sent, so their digits are compared with the digits of every number that the term may mean.
 */
function payerFilter(term: string): ListFilter {
  return {
    name: 'payer',
    text: (next) => {
      const [text, numbers] = [next(), next()];
      const sent = ['customer_name', 'customer_email', 'customer_phone'].map((column) => `${column} ILIKE ${text}`);
      const digits = String.raw`regexp_replace(customer_phone, '\D', '', 'g')`;
      return `(${sent.join(' OR ')} OR ${digits} LIKE ANY (${numbers}::text[]))`;
    },
    values: [substringPattern(term), searchedNumbers(term).map(nationalDigits).map(substringPattern)],
  };
}

/** Without the country code, which may not have been sent. */
function nationalDigits(number: string): string {
  return number.replace(/^\+(?:220)?/, '');
}
