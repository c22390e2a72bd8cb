import { assert } from '../kit/assert.ts';
import type { Database, Queryable, Statement, Transaction, TransactionCause } from '../kit/db.ts';

/**
 * A database whose transactions are all part of one that is open: a day of demo data is committed at once. That is many times
 * as fast, and a running service sees no payment that is half done, whose work it would do at today's time.
 *
 * Code that relies on a rollback of its own transaction must not run here.
 */
export class JoinedDatabase implements Database {
  readonly #outer: Database;
  #tx: Transaction | null = null;

  readonly waiting = 0;

  constructor(outer: Database) {
    this.#outer = outer;
  }

  /** Runs `body` as one transaction, of which everything that uses this database meanwhile is part. */
  together<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#outer.withTransaction(async (tx) => {
      this.#tx = tx;
      try {
        return await body(tx);
      } finally {
        this.#tx = null;
      }
    });
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#current().rows(statement);
  }

  row<Row>(statement: Statement): Promise<Row | undefined> {
    return this.#current().row(statement);
  }

  run(statement: Statement): Promise<number> {
    return this.#current().run(statement);
  }

  async withTransaction<Result>(body: (tx: Transaction) => Promise<Result>, cause?: TransactionCause): Promise<Result> {
    const tx = this.#tx;
    assert(tx, 'there is an open transaction to be part of');
    const last: Parameters<Transaction['beforeCommit']>[0][] = [];
    const result = await body({
      requestId: cause?.requestId ?? null,
      memory: null,
      rows: (statement) => tx.rows(statement),
      row: (statement) => tx.row(statement),
      run: (statement) => tx.run(statement),
      send: (statement) => tx.send(statement),
      beforeCommit: (action) => last.push(action),
      afterCommit: (action) => tx.afterCommit(action),
    });
    for (const action of last) await action(tx);
    return result;
  }

  dedicatedClient(): Promise<never> {
    return Promise.reject(new Error('demo data listens to nothing'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #current(): Queryable {
    return this.#tx ?? this.#outer;
  }
}
