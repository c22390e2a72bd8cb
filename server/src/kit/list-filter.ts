import { PhoneNumberError, parsePhoneNumber } from './phone-number.ts';

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

/** $1 is the merchant; the filters' values follow in their order. */
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

/** A condition on one column: `columnFilter('status', 'charges.status =', 'failed')`. Nothing to compare with is no filter. */
export function columnFilter(name: string, condition: string, value: unknown): ListFilter[] {
  return value === undefined ? [] : [{ name, text: (next) => `${condition} ${next()}`, values: [value] }];
}

/** The times between which a row was created, both included. */
export function createdFilter(table: string, { from, to }: TimeFilter): ListFilter[] {
  return [...columnFilter('from', `${table}.created_at >=`, from), ...columnFilter('to', `${table}.created_at <=`, to)];
}

/** Absent is no bound. */
export interface TimeFilter {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The pattern of `LIKE` for what contains the text; what `LIKE` reads as a sign stands for itself. */
export function substringPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** A substring of any of the columns, capitals or not. A term that is a whole number finds its line in either form. */
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

/** What the tables keep beside a number as it was sent, so that one spelling of a line finds the others. */
function canonicalNumber(term: string): string[] {
  try {
    return [parsePhoneNumber(term, { strict: false }).canonical];
  } catch (error) {
    if (error instanceof PhoneNumberError) return [];
    throw error;
  }
}
