import assert from 'node:assert/strict';
import type { Database, Statement, Transaction } from '../../server/src/kit/db.ts';

/**
 * Wraps a database so that a transaction fails when it locks accounts out of order (docs/adr/0013): by name, and none
 * after it has claimed a merchant's debt for a collection.
 */
export function withOrderedAccountLocks(db: Database): Database {
  return {
    rows: (statement) => db.rows(statement),
    row: (statement) => db.row(statement),
    run: (statement) => db.run(statement),
    withTransaction: (body, cause) => db.withTransaction((tx) => body(watchTransaction(tx)), cause),
    dedicatedClient: () => db.dedicatedClient(),
    get waiting() {
      return db.waiting;
    },
    close: () => db.close(),
  };
}

function watchTransaction(tx: Transaction): Transaction {
  const locked = new Set<string>();
  let last = '';
  let claimed: string | null = null;
  const check = ({ name, values }: Statement): void => {
    if (name !== 'ledger_accounts_lock') return;
    const account = String(values[1]);
    if (locked.has(account)) return;
    assert.equal(claimed, null, `${account} is locked after the debt was claimed`);
    assert.ok(last < account, `${account} is locked after ${last}: lock all accounts of a transaction in one order`);
    locked.add(account);
    last = account;
  };
  return {
    requestId: tx.requestId,
    memory: tx.memory,
    rows: (statement) => tx.rows(statement),
    row: async <Row>(statement: Statement) => {
      check(statement);
      const row = await tx.row<Row>(statement);
      if (statement.name === 'ledger_accounts_try_lock_above_zero' && row) {
        claimed = String(statement.values[1]);
        locked.add(claimed);
      }
      return row;
    },
    run: (statement) => tx.run(statement),
    send: (statement) => tx.send(statement),
    beforeCommit: (action) => tx.beforeCommit(action),
    afterCommit: (action) => tx.afterCommit(action),
  };
}
