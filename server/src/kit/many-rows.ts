import { assert } from './assert.ts';
import type { ManyRows, Queryable, Statement } from './db.ts';
import type { OwnStatement } from './run-statement.ts';

/** A statement whose text for one row is that for many. */
export function statementForMany({ name, values, ...many }: Pick<Statement, 'name' | 'values'> & ManyRows): Statement {
  return { name, text: many.text(many.parameters), values, many };
}

type ByLast = Pick<Statement, 'name'> & Pick<ManyRows, 'column' | 'text'>;

/** A statement that finds a row by its last value, whose text lists such values: `reference IN (${list})`. */
export function statementByLast({ values, ...statement }: ByLast & Pick<Statement, 'values'>): Statement {
  const last = { parameters: `$${values.length}`, key: String(values.at(-1)) };
  return statementForMany({ ...statement, ...last, values, sharedValues: values.length - 1 });
}

/** A function that finds a row so; without `values` its parameters are those of the statement. */
export function rowByLast<Row, Parameters extends readonly unknown[]>({
  values = (...parameters) => parameters,
  ...statement
}: ByLast & Pick<OwnStatement<Parameters>, 'values'>) {
  return (db: Queryable, ...parameters: Parameters): Promise<Row | undefined> =>
    db.row<Row>(statementByLast({ ...statement, values: values(...parameters) }));
}

/** The row of this uuid, which the database returns in lower case however the caller wrote it. */
export function rowOfId(id: string): Pick<ManyRows, 'column' | 'key'> {
  return { column: 'id', key: id.toLowerCase() };
}

/** `($2::uuid, $3::text)`: the parameters of a row in VALUES, from this number on. */
export function typedRow(first: number, types: readonly string[]): string {
  return `(${types.map((type, index) => `$${first + index}::${type}`).join(', ')})`;
}

/** The most rows of one statement. */
export const manyRowsMax = 32;

// Each size is a plan of its own on each connection; the last row is repeated to the next one.
const sizes = [2, 4, 8, 16, manyRowsMax] as const;

/** Statements that differ only in their rows can be sent as one. */
export function sharedPart({ name, values, many }: Statement): string {
  return [name, ...values.slice(0, many?.sharedValues ?? 0)].join(' ');
}

/** Sends statements about different rows as one, in the order of their keys, and returns the rows of each. */
export async function rowsOfEach(db: Queryable, statements: readonly Statement[]): Promise<unknown[][]> {
  const many = statements.map((statement) => manyOf(statement));
  const rows = await db.rows<Record<string, unknown>>(asOne(statements));
  const byKey = new Map<string, unknown[]>(many.map(({ key }) => [key, []]));
  for (const row of rows) byKey.get(String(row[many[0]?.column ?? '']))?.push(row);
  return many.map(({ key }) => byKey.get(key) ?? []);
}

/** Statements that differ only in their rows as one. */
export function asOne(statements: readonly Statement[]): Statement {
  // In one order, so that two statements that lock the same rows cannot deadlock.
  const sorted = statements.toSorted((one, another) => (manyOf(one).key < manyOf(another).key ? -1 : 1));
  const [first, last] = [sorted[0], sorted.at(-1)];
  assert(first !== undefined && last !== undefined, 'there is nothing to send');
  if (sorted.length === 1) return first;
  const { sharedValues } = manyOf(first);
  const size = sizes.find((each) => each >= sorted.length);
  assert(size !== undefined, `a statement has at most ${manyRowsMax} rows`);
  const padded = [...sorted, ...Array<Statement>(size - sorted.length).fill(last)];
  return {
    name: `${first.name}_x${size}`,
    text: textOf(first, size),
    values: [...first.values.slice(0, sharedValues), ...padded.flatMap(({ values }) => values.slice(sharedValues))],
  };
}

const texts = new Map<string, string>();

function textOf(statement: Statement, size: number): string {
  const key = `${size} ${statement.text}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const { parameters, sharedValues, text } = manyOf(statement);
  const perRow = statement.values.length - sharedValues;
  const rowAt = (index: number): string =>
    parameters.replace(/\$(\d+)/g, (parameter, number: string) =>
      Number(number) <= sharedValues ? parameter : `$${Number(number) + index * perRow}`,
    );
  const many = text(Array.from({ length: size }, (_, index) => rowAt(index)).join(', '));
  texts.set(key, many);
  return many;
}

function manyOf({ many, name }: Statement): ManyRows {
  assert(many !== undefined, `${name} is not for many rows`);
  return many;
}
