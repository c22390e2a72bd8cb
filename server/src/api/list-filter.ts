import { createHash } from 'node:crypto';
import { addMs } from '../kit/clock.ts';
import { firstIdAt } from '../kit/ids.ts';
import { numberOrNull, parsePhoneNumber } from '../kit/phone-number.ts';

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
    name: shortName(filters.map((filter) => filter.name).join('_') || 'all'),
    text: filters.map((filter) => `AND ${filter.text(next)}`).join(' '),
    values: filters.flatMap((filter) => filter.values),
  };
}

// With the list's own name in front, within the 63 characters of a prepared statement's name, beyond which PostgreSQL cuts it off.
const nameLengthMax = 24;

function shortName(name: string): string {
  return name.length <= nameLengthMax ? name : createHash('sha256').update(name).digest('hex').slice(0, nameLengthMax);
}

/** A condition on one column: `columnFilter('status', 'charges.status =', 'failed')`. An undefined value is no filter. */
export function columnFilter(name: string, condition: string, value: unknown): ListFilter[] {
  return value === undefined ? [] : [{ name, text: (next) => `${condition} ${next()}`, values: [value] }];
}

/** Rows created between two times, both included. */
export function createdFilter(table: string, { from, to }: TimeFilter): ListFilter[] {
  return [...columnFilter('from', `${table}.created_at >=`, from), ...columnFilter('to', `${table}.created_at <=`, to)];
}

// An id is made with the time of its record, and never goes back with the clock.
const idSlackMs = 60_000;

/** The ids of that time, so that an old day is read from the primary key and not by way of every newer record. */
export function idFilters(idColumn: string, { from, to }: TimeFilter): ListFilter[] {
  return [
    ...columnFilter('from_id', `${idColumn} >=`, from && firstIdAt(addMs(from, -idSlackMs))),
    ...columnFilter('to_id', `${idColumn} <`, to && firstIdAt(addMs(to, idSlackMs))),
  ];
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

/** Rows that one of the two conditions finds. */
export function eitherFilter(left: ListFilter, right: ListFilter): ListFilter {
  return {
    name: `${left.name}_or_${right.name}`,
    text: (next) => `(${left.text(next)} OR ${right.text(next)})`,
    values: [...left.values, ...right.values],
  };
}

/** Rows created in a time, with a text in one of the columns. */
export function recordConditions(table: string, { term, ...times }: RecordFilter, columns: readonly string[]) {
  const filters = [...(term === undefined ? [] : [termFilter(term, columns)]), ...createdFilter(table, times)];
  return { filters, isSearch: term !== undefined };
}

/** The canonical form, which the tables store beside the number as it was sent. */
function canonicalNumber(term: string): string[] {
  const gambian = numberOrNull(() => parsePhoneNumber(term, { strict: false }));
  return gambian ? [gambian.canonical] : [];
}
