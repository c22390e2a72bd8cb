import { PhoneNumberError, parsePhoneNumber } from './phone-number.ts';

/** Where a page of a list begins and how many rows are wanted. */
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

/** One condition of a list; `parameter` gives the next number. */
export interface ClausePart {
  name: string;
  text: (parameter: () => string) => string;
  values: unknown[];
}

/** $1 is the merchant; the parts' values follow in their order. */
export function listClause(parts: readonly ClausePart[]): Clause {
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

/** A condition on one column with one value: `columnPart('status', 'charges.status =', 'failed')`. */
export function columnPart(name: string, condition: string, value: unknown): ClausePart {
  return { name, text: (next) => `${condition} ${next()}`, values: [value] };
}

/** Where the page begins and the times between which a row was created. */
export function commonParts(table: string, filter: { from?: Date; to?: Date }, before: string | null): ClausePart[] {
  return [
    ...(before === null ? [] : [columnPart('before', `${table}.id <`, before)]),
    ...(filter.from === undefined ? [] : [columnPart('from', `${table}.created_at >=`, filter.from)]),
    ...(filter.to === undefined ? [] : [columnPart('to', `${table}.created_at <=`, filter.to)]),
  ];
}

/** What a search by its term finds in these columns, where the page begins. */
export function searchClause(term: string | undefined, before: string | null, columns: readonly string[]): Clause {
  return listClause([
    ...(before === null ? [] : [columnPart('before', 'id <', before)]),
    ...(term === undefined ? [] : [termPart(term, columns)]),
  ]);
}

/** The pattern of `LIKE` for what contains the text; what `LIKE` reads as a sign stands for itself. */
export function substringPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** A substring of any of the columns, capitals or not. A term that is a whole number finds its line in either form. */
export function termPart(term: string, columns: readonly string[]): ClausePart {
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
