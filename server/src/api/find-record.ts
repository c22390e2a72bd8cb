import type { Queryable, Statement } from '../kit/db.ts';

/** Runs a statement that finds one row of a merchant, $1, by an id, $2. */
export function finderOf<Row>(statement: Pick<Statement, 'name' | 'text'>) {
  return (db: Queryable, merchantId: string, id: string): Promise<Row | undefined> =>
    db.row<Row>({ ...statement, values: [merchantId, id] });
}
