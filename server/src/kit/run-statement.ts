import type { Queryable, Statement } from './db.ts';

/**
 * A statement that stays the same but for its values, which are made from the parameters of the function: `$1` is the first.
 * Without `values` they are the parameters themselves, in their order, and what is passed on to be called with more, as by `map`, is
 * called in a function around it.
 */
export type OwnStatement<Parameters extends readonly unknown[]> = Pick<Statement, 'name' | 'text' | 'emptyForAll'> & {
  values?: (...parameters: Parameters) => readonly unknown[];
};

/** A function that returns its statement with these values, for whoever sends it. */
export function statementBy<Parameters extends readonly unknown[]>({
  values = (...parameters) => parameters,
  ...statement
}: OwnStatement<Parameters>) {
  return (...parameters: Parameters): Statement => ({ ...statement, values: values(...parameters) });
}

/** A function that returns the rows of its statement: `rowsBy<Charge, [merchantId: string, intentId: string]>({ … })`. */
export function rowsBy<Row, Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const statement = statementBy(own);
  return (db: Queryable, ...parameters: Parameters): Promise<Row[]> => db.rows<Row>(statement(...parameters));
}

/** One that returns the only row of its statement, or undefined. */
export function rowBy<Row, Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const statement = statementBy(own);
  return (db: Queryable, ...parameters: Parameters): Promise<Row | undefined> => db.row<Row>(statement(...parameters));
}

/** One that returns how many rows its statement changed. */
export function runBy<Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const statement = statementBy(own);
  return (db: Queryable, ...parameters: Parameters): Promise<number> => db.run(statement(...parameters));
}

/** One that returns the ids that its statement finds, in its order. */
export function idsBy<Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const find = rowsBy<{ id: string }, Parameters>(own);
  return async (db: Queryable, ...parameters: Parameters): Promise<string[]> =>
    (await find(db, ...parameters)).map(({ id }) => id);
}

/** One that returns what its statement selects `AS value`, or `none` where that is null or there is no row. */
export function valueBy<Value, Parameters extends readonly unknown[]>({
  none,
  ...own
}: OwnStatement<Parameters> & { none: Value }) {
  const find = rowBy<{ value: Value }, Parameters>(own);
  return async (db: Queryable, ...parameters: Parameters): Promise<Value> =>
    (await find(db, ...parameters))?.value ?? none;
}

/** One that returns how many its statement counts. */
export function countBy<Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const find = rowBy<{ count: bigint }, Parameters>(own);
  return async (db: Queryable, ...parameters: Parameters): Promise<number> =>
    Number((await find(db, ...parameters))?.count ?? 0n);
}

/** One that returns whether its statement finds a row. */
export function isFoundBy<Parameters extends readonly unknown[]>(own: OwnStatement<Parameters>) {
  const find = rowBy<unknown, Parameters>(own);
  return async (db: Queryable, ...parameters: Parameters): Promise<boolean> =>
    (await find(db, ...parameters)) !== undefined;
}
