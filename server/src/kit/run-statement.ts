import type { Queryable, Statement } from './db.ts';

/**
 * A statement whose values are the parameters of the function that it makes, in their order: `$1` is the first. What is passed on to
 * be called with more, as by `map`, is called in a function around it.
 */
type OwnStatement = Pick<Statement, 'name' | 'text'>;

/** A function that returns the rows of its statement: `rowsBy<Charge, [merchantId: string, intentId: string]>({ … })`. */
export function rowsBy<Row, Values extends readonly unknown[]>(statement: OwnStatement) {
  return (db: Queryable, ...values: Values): Promise<Row[]> => db.rows<Row>({ ...statement, values });
}

/** One that returns the only row of its statement, or undefined. */
export function rowBy<Row, Values extends readonly unknown[]>(statement: OwnStatement) {
  return (db: Queryable, ...values: Values): Promise<Row | undefined> => db.row<Row>({ ...statement, values });
}

/** One that returns how many rows its statement changed. */
export function runBy<Values extends readonly unknown[]>(statement: OwnStatement) {
  return (db: Queryable, ...values: Values): Promise<number> => db.run({ ...statement, values });
}

/** A function that returns its statement with these values, for whoever sends it. */
export function statementBy<Values extends readonly unknown[]>(statement: OwnStatement) {
  return (...values: Values): Statement => ({ ...statement, values });
}
