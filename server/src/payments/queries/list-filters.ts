import { searchedNumbers } from '../../customers/identities.ts';
import {
  columnFilter,
  createdFilter,
  eitherFilter,
  idFilters,
  substringPattern,
  termFilter,
  type ListFilter,
  type TimeFilter,
} from '../../api/list-filter.ts';
import type { ListConditions } from '../../api/list-reader.ts';
import { newestRequest, type SearchedText } from '../../api/search-request.ts';
import type { ChargeStatus } from '../charge.ts';
import { totalMax } from '../../api/pagination.ts';
import { addMs } from '../../kit/clock.ts';
import { firstIdAt } from '../../kit/ids.ts';
import { isOpen, type IntentStatus } from '../intent.ts';
import { receiptCodeDays, type PaymentSearch } from '../payment-search.ts';

/** Filters of the list of intents; undefined is no filter. */
export interface IntentFilter extends TimeFilter {
  status?: IntentStatus | undefined;
  /** At one of these counters. */
  terminalIds?: readonly string[] | undefined;
  /** Paid through this link. */
  paymentLinkId?: string | undefined;
  customerId?: string | undefined;
  /** With an attempt at this network. */
  network?: string | undefined;
  /** When its money came, whenever it was created. */
  paid?: TimeFilter | undefined;
  term?: string | undefined;
  search?: PaymentSearch | undefined;
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

/** What a list of intents reads. */
export function intentConditions(filter: IntentFilter): ListConditions {
  const { status, terminalIds, term, now, paymentLinkId, customerId, network, paid, search, ...times } = filter;
  // Each is found by an index, in the order of the list.
  const newestOf = [
    ...columnFilter('link', 'payment_link_id =', paymentLinkId),
    ...columnFilter('customer', 'customer_id =', customerId),
    ...createdFilter('payment_intents', times),
    ...idFilters('payment_intents.id', times),
  ];
  const others = [
    ...(status === undefined ? [] : [statusFilter(status, now)]),
    ...(terminalIds === undefined ? [] : [anyOfFilter('terminals', 'terminal_id', terminalIds)]),
    ...(network === undefined ? [] : [attemptFilter('network', 'network =', network)]),
    ...(paid === undefined ? [] : paidFilters(paid)),
    ...(term === undefined ? [] : [eitherFilter(termFilter(term, intentSearchColumns), payerFilter(term))]),
  ];
  if (search?.kind === 'text') return newestRequest(searchedText(search), searchedIntents, { newestOf, others });
  const filters = [...newestOf, ...others, ...(search === undefined ? [] : [searchFilter(search, now)])];
  return { filters, isSearch: term !== undefined || network !== undefined || paid !== undefined };
}

/** Read from the index of the times when money came; a payment is created before it is paid. */
function paidFilters({ from, to }: TimeFilter): ListFilter[] {
  const paid: ListFilter = {
    name: `paid${from === undefined ? '' : '_from'}${to === undefined ? '' : '_to'}`,
    text: (next) => `payment_intents.id IN (
      SELECT intent_id FROM charges
      WHERE merchant_id = $1 AND charges.status IN ('completed', 'refunded', 'reversed')
        ${from === undefined ? '' : `AND paid_at >= ${next()}`} ${to === undefined ? '' : `AND paid_at <= ${next()}`}
    )`,
    values: [from, to].filter((bound) => bound !== undefined),
  };
  return [paid, ...idFilters('payment_intents.id', { to })];
}

/** Intents with an attempt like this. */
function attemptFilter(name: string, condition: string, value: unknown): ListFilter {
  return {
    name,
    text: (next) => `EXISTS (
      SELECT 1 FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id = payment_intents.id AND ${condition} ${next()}
    )`,
    values: [value],
  };
}

/** As the amount column of lists shows it: what the payer pays. */
export const intentTotalSql = `payment_intents.amount + CASE WHEN fee_payer = 'customer' THEN fee ELSE 0 END`;

// Whoever looks for a number finds its newest payments; more than a list counts would only slow the search.
const numberRowsMax = totalMax + 1;
// A week of seven thousand attempts a day.
const receiptRowsMax = 50_000;
// Sorts behind each text that begins with what is in front of it.
const lastCharacter = '\u{10FFFF}';

function searchFilter(search: Exclude<PaymentSearch, { kind: 'text' }>, now: Date): ListFilter {
  switch (search.kind) {
    case 'id':
      return {
        name: 'id',
        text: (next) => {
          const id = next();
          return `payment_intents.id IN (${id}::uuid, (SELECT intent_id FROM charges WHERE merchant_id = $1 AND charges.id = ${id}))`;
        },
        values: [search.id],
      };
    case 'reference':
      return {
        name: 'transaction_reference',
        text: (next) =>
          `payment_intents.id = (SELECT intent_id FROM charges WHERE merchant_id = $1 AND transaction_reference = ${next()})`,
        values: [search.reference],
      };
    case 'reference_start':
      return {
        name: 'reference_start',
        text: (next) => `payment_intents.id = ANY (ARRAY(
          SELECT intent_id FROM charges
          WHERE merchant_id = $1 AND transaction_reference >= ${next()} AND transaction_reference < ${next()}
          ORDER BY transaction_reference DESC LIMIT ${numberRowsMax}
        ))`,
        values: [search.start, `${search.start}${lastCharacter}`],
      };
    case 'receipt':
      return {
        name: `receipt_${search.code.length}`,
        text: (next) => `payment_intents.id = ANY (ARRAY(
          SELECT intent_id FROM (
            SELECT intent_id, transaction_reference FROM charges WHERE merchant_id = $1 AND charges.id >= ${next()}
            ORDER BY charges.id DESC LIMIT ${receiptRowsMax}
          ) AS newest WHERE right(transaction_reference, ${search.code.length}) = ${next()}
        ))`,
        values: [firstIdAt(addMs(now, -receiptCodeDays * dayMs)), search.code],
      };
    case 'number':
      return numberFilter(search);
    case 'amount':
      return { name: 'amount', text: (next) => `${intentTotalSql} = ${next()}`, values: [search.amountMinor] };
  }
}

const dayMs = 24 * 3600 * 1000;

/** By the attempts from the number, and by the number that the merchant gave for the payer; each part reads its own index. */
function numberFilter({ canonical, digits }: Extract<PaymentSearch, { kind: 'number' }>): ListFilter {
  const sent = String.raw`regexp_replace(customer_phone, '\D', '', 'g')`;
  return {
    name: 'number',
    text: (next) => `payment_intents.id IN (
      (SELECT intent_id FROM charges WHERE merchant_id = $1 AND account_canonical = ${next()}
       ORDER BY intent_id DESC LIMIT ${numberRowsMax})
      UNION ALL
      (SELECT id FROM payment_intents AS named WHERE merchant_id = $1 AND customer_phone IS NOT NULL
         AND right(${sent}, 7) = ${next()} AND ${sent} = ANY (${next()}::text[])
       ORDER BY id DESC LIMIT ${numberRowsMax})
    )`,
    values: [canonical, (digits[0] ?? '').slice(-7), digits],
  };
}

const searchedIntents = { listed: 'FROM payment_intents WHERE merchant_id = $1', id: 'payment_intents.id' };
const textColumns = ['title', 'description', 'customer_name', 'customer_email'];
const attemptColumns = [
  'transaction_reference',
  'reference',
  'account_number',
  'network_reference',
  'network_transaction_id',
];

/** At any age by amount, or by the full reference of an attempt; by a part of a text, or of what an attempt shows, in the newest. */
function searchedText({ text, amountMinor }: Extract<PaymentSearch, { kind: 'text' }>): SearchedText {
  const contains = (columns: readonly string[], pattern: string) =>
    columns.map((column) => `${column} ILIKE ${pattern}`).join(' OR ');
  return {
    indexed: [
      ...(amountMinor === null ? [] : columnFilter('amount', `${intentTotalSql} =`, amountMinor)),
      {
        name: 'reference',
        text: (next) =>
          `payment_intents.id = (SELECT intent_id FROM charges WHERE merchant_id = $1 AND reference = ${next()})`,
        values: [text],
      },
    ],
    inNewest: {
      name: 'words',
      // Not EXISTS, for which the planner may read all of the merchant's attempts at once.
      text: (next) => {
        const pattern = next();
        return `(${contains(textColumns, pattern)} OR (
          SELECT bool_or(${contains(attemptColumns, pattern)}) FROM charges
          WHERE charges.merchant_id = $1 AND charges.intent_id = payment_intents.id
        ))`;
      },
      values: [substringPattern(text)],
    },
  };
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
  // The status is part of the text, so that a prepared statement can use the index of the rare ones.
  if (!isOpen(status)) return { name: status, text: () => `status = '${status}'`, values: [] };
  return {
    name: status,
    text: (next) => `(status = '${status}' AND NOT (${overdue(next())}))`,
    values: [now],
  };
}

function anyOfFilter(name: string, column: string, values: readonly string[]): ListFilter {
  return { name, text: (next) => `${column} = ANY (${next()}::uuid[])`, values: [values] };
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
