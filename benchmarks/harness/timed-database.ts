import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';

/** A database that records the duration of each statement. */
export interface TimedDatabase {
  db: Database;
  /** In milliseconds, of the statements whose name matches, in the order of their ends. */
  durationsMs(pattern: RegExp): number[];
}

/**
 * Times statements from when they have a connection. There are `connectionsMax`, and callers wait for one here, not in
 * the pool.
 */
export function timedDatabase(db: Database, connectionsMax: number): TimedDatabase {
  const inUse = { count: 0, waiting: [] as (() => void)[] };
  const byName = new Map<string, number[]>();
  const connected = async <Result>(use: () => Promise<Result>): Promise<Result> => {
    if (inUse.count >= connectionsMax) await new Promise<void>((resolve) => inUse.waiting.push(resolve));
    else inUse.count += 1;
    try {
      return await use();
    } finally {
      const next = inUse.waiting.shift();
      if (next) next();
      else inUse.count -= 1;
    }
  };
  const timed = async <Result>({ name }: Statement, run: () => Promise<Result>): Promise<Result> => {
    const beganAt = performance.now();
    const result = await run();
    const durations = byName.get(name) ?? [];
    byName.set(name, durations);
    durations.push(performance.now() - beganAt);
    return result;
  };
  return {
    durationsMs: (pattern) => [...byName].flatMap(([name, durations]) => (pattern.test(name) ? durations : [])),
    db: {
      ...queryable(db, (statement, run) => connected(() => timed(statement, run))),
      withTransaction: (body, cause) =>
        connected(() => db.withTransaction((tx) => body({ ...rest(tx), ...queryable(tx, timed) }), cause)),
      dedicatedClient: () => db.dedicatedClient(),
      get waiting() {
        return db.waiting + inUse.waiting.length;
      },
      close: () => db.close(),
    },
  };
}

type Around = <Result>(statement: Statement, run: () => Promise<Result>) => Promise<Result>;

function queryable(db: Queryable, around: Around): Queryable {
  return {
    rows: <Row>(statement: Statement) => around(statement, () => db.rows<Row>(statement)),
    row: <Row>(statement: Statement) => around(statement, () => db.row<Row>(statement)),
    run: (statement) => around(statement, () => db.run(statement)),
  };
}

function rest(tx: Transaction): Pick<Transaction, 'requestId' | 'memory' | 'send' | 'beforeCommit' | 'afterCommit'> {
  return {
    requestId: tx.requestId,
    memory: tx.memory,
    send: (statement) => tx.send(statement),
    beforeCommit: (action) => tx.beforeCommit(action),
    afterCommit: (action) => tx.afterCommit(action),
  };
}
