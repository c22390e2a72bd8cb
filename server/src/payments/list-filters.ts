import type { ChargeStatus } from './charge.ts';
import type { IntentStatus } from './intent.ts';

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
  from?: Date;
  to?: Date;
  term?: string;
}

export interface Page {
  /** The id after which to go on, or null from the start. */
  before: string | null;
  offset: number;
  rowsMax: number;
}

/** A piece of WHERE with its values, numbered from $2, and a name that is the same for the same text. */
export interface Clause {
  name: string;
  text: string;
  values: unknown[];
}

type Part = { name: string; text: (parameter: () => string) => string; values: unknown[] };

export function intentFilterClause(filter: IntentFilter, before: string | null): Clause {
  const parts: Part[] = [];
  if (filter.status !== undefined) parts.push(statusPart(filter.status, filter.now));
  parts.push(...commonParts('payment_intents', filter, before));
  if (filter.term) parts.push(termPart(filter.term, intentSearchColumns));
  return combine(parts);
}

export function chargeFilterClause(filter: ChargeFilter, before: string | null): Clause {
  const parts: Part[] = [];
  if (filter.status !== undefined) {
    parts.push({ name: 'status', text: (next) => `charges.status = ${next()}`, values: [filter.status] });
  }
  parts.push(...commonParts('charges', filter, before));
  if (filter.term) parts.push(termPart(filter.term, chargeSearchColumns));
  return combine(parts);
}

const intentSearchColumns = ['title', 'description', 'customer_name', 'customer_email', 'customer_phone', 'id::text'];
const chargeSearchColumns = [
  'charges.account_number',
  'charges.account_canonical',
  'charges.reference',
  'charges.transaction_reference',
  'charges.network_transaction_id',
  'charges.id::text',
  'charges.intent_id::text',
];

/** The stored status lags behind the clock: what is due to expire counts as expired (decisions, "Payments"). */
function statusPart(status: IntentStatus, now: Date): Part {
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

function commonParts(table: string, filter: { from?: Date; to?: Date }, before: string | null): Part[] {
  const parts: Part[] = [];
  const add = (name: string, condition: string, value: unknown) =>
    parts.push({ name, text: (next) => `${table}.${condition} ${next()}`, values: [value] });
  if (before !== null) add('before', 'id <', before);
  if (filter.from !== undefined) add('from', 'created_at >=', filter.from);
  if (filter.to !== undefined) add('to', 'created_at <=', filter.to);
  return parts;
}

function termPart(term: string, columns: readonly string[]): Part {
  const pattern = `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return {
    name: 'term',
    text: (next) => {
      const parameter = next();
      return `(${columns.map((column) => `${column} ILIKE ${parameter}`).join(' OR ')})`;
    },
    values: [pattern],
  };
}

/** $1 is the merchant; the parts' values follow in their order. */
function combine(parts: readonly Part[]): Clause {
  let count = 1;
  const next = () => {
    count += 1;
    return `$${count}`;
  };
  return {
    name: parts.map((part) => part.name).join('_') || 'all',
    text: parts.map((part) => `AND ${part.text(next)}`).join(' '),
    values: parts.flatMap((part) => part.values),
  };
}
