import type { Statement } from '../kit/db.ts';
import { rowBy } from '../kit/run-statement.ts';

/** Runs a statement that finds one row of a merchant, $1, by an id, $2. */
export function finderOf<Row>(statement: Pick<Statement, 'name' | 'text'>) {
  return rowBy<Row, [merchantId: string, id: string]>(statement);
}
