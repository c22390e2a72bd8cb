import type { Queryable, Statement } from './db.ts';

/** A statement whose values are the parameters of the function that runs it, in their order: `$1` is the first. */
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
