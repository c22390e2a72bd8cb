import type { Statement, Transaction } from '../../server/src/kit/db.ts';

/** The same transaction; the name of each of its statements is added to `names`. */
export function notingStatements(tx: Transaction, names: string[]): Transaction {
  const noted = (statement: Statement): Statement => {
    names.push(statement.name);
    return statement;
  };
  return {
    requestId: tx.requestId,
    memory: tx.memory,
    rows: (statement) => tx.rows(noted(statement)),
    row: (statement) => tx.row(noted(statement)),
    run: (statement) => tx.run(noted(statement)),
    send: (statement) => tx.send(noted(statement)),
    beforeCommit: (action) => tx.beforeCommit(action),
    afterCommit: (action) => tx.afterCommit(action),
  };
}
