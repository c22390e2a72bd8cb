import { PhoneNumberError, parsePhoneNumber } from '../kit/phone-number.ts';
import type { TypedSearch } from './typed-search.ts';

/** The filters of a list as SQL, with their values numbered from $2, and a name that is the same for the same text. */
export interface ListClause {
  name: string;
  text: string;
  values: unknown[];
}

/** One condition of a list; `parameter` gives the next number. */
export interface ListFilter {
  name: string;
  text: (parameter: () => string) => string;
  values: unknown[];
}

/** $1 is the merchant; the filters' values follow in order. */
export function listClause(filters: readonly ListFilter[]): ListClause {
  let count = 1;
  const next = () => {
    count += 1;
    return `$${count}`;
  };
  return {
    name: filters.map((filter) => filter.name).join('_') || 'all',
    text: filters.map((filter) => `AND ${filter.text(next)}`).join(' '),
    values: filters.flatMap((filter) => filter.values),
  };
}

/** A condition on one column: `columnFilter('status', 'charges.status =', 'failed')`. An undefined value is no filter. */
export function columnFilter(name: string, condition: string, value: unknown): ListFilter[] {
  return value === undefined ? [] : [{ name, text: (next) => `${condition} ${next()}`, values: [value] }];
}

/** Rows created between two times, both included. */
export function createdFilter(table: string, { from, to }: TimeFilter): ListFilter[] {
  return [...columnFilter('from', `${table}.created_at >=`, from), ...columnFilter('to', `${table}.created_at <=`, to)];
}

/** Absent is no bound. */
export interface TimeFilter {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The filters that every list of records has. */
export interface RecordFilter extends TimeFilter {
  term?: string | undefined;
}

/** The `LIKE` pattern for texts that contain this one; wildcards in it are escaped. */
export function substringPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** A case-insensitive substring of any of the columns. A whole phone number also finds the other form of the same line. */
export function termFilter(term: string, columns: readonly string[]): ListFilter {
  return {
    name: 'term',
    text: (next) => {
      const parameter = `${next()}::text[]`;
      return `(${columns.map((column) => `${column} ILIKE ANY (${parameter})`).join(' OR ')})`;
    },
    values: [[term, ...canonicalNumber(term)].map(substringPattern)],
  };
}

/** A substring, as the API searches, or what a person typed. Both undefined are no filter. */
export interface SearchFilter {
  term?: string | undefined;
  typed?: TypedSearch | undefined;
}

/** Whether it reads every row of its merchant. */
export function isSearch({ term, typed }: SearchFilter): boolean {
  return term !== undefined || typed?.kind === 'text';
}

/** Where the parts of a typed search are found; a list without numbers finds one as a text. */
interface SearchedColumns {
  texts: readonly string[];
  id: string;
  amount: string;
  number?: string;
}

export function searchFilters({ term, typed }: SearchFilter, columns: SearchedColumns): ListFilter[] {
  if (term !== undefined) return [termFilter(term, columns.texts)];
  switch (typed?.kind) {
    case undefined:
      return [];
    case 'id':
      return columnFilter('id', `${columns.id} =`, typed.id);
    case 'amount':
      return columnFilter('amount', `${columns.amount} =`, typed.amountMinor);
    case 'number':
      return columns.number === undefined
        ? [termFilter(typed.canonical, columns.texts)]
        : columnFilter('number', `${columns.number} =`, typed.canonical);
    case 'text': {
      const text = termFilter(typed.text, columns.texts);
      if (typed.amountMinor === null) return [text];
      return columnFilter('amount', `${columns.amount} =`, typed.amountMinor).map((each) => eitherFilter(text, each));
    }
  }
}

/** Rows that one of the two conditions finds. */
export function eitherFilter(left: ListFilter, right: ListFilter): ListFilter {
  return {
    name: `${left.name}_or_${right.name}`,
    text: (next) => `(${left.text(next)} OR ${right.text(next)})`,
    values: [...left.values, ...right.values],
  };
}

/** Rows created in a time, with a text in one of the columns. */
export function recordFilters(table: string, filter: RecordFilter, columns: readonly string[]): ListFilter[] {
  return [...(filter.term === undefined ? [] : [termFilter(filter.term, columns)]), ...createdFilter(table, filter)];
}

/** The canonical form, which the tables store beside the number as it was sent. */
function canonicalNumber(term: string): string[] {
  try {
    return [parsePhoneNumber(term, { strict: false }).canonical];
  } catch (error) {
    if (error instanceof PhoneNumberError) return [];
    throw error;
  }
}
