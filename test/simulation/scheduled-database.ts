import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';
import type { Log } from '../../server/src/kit/log.ts';
import type { Instance } from './instance.ts';
import { never, untilCrash } from './instance.ts';
import type { Scheduler } from './scheduler.ts';

// One statement runs at a time, so more connections only let more transactions be open at once; each costs PostgreSQL 10 ms.
export const connectionsMax = 4;

/** The statement that a transaction has under way. */
interface UnderWay {
  end: () => Promise<void>;
  /** The clock of its instance. */
  clock: Clock;
}

const transactions = new AsyncLocalStorage<UnderWay>();

/** The clock of the database's own waits: a transaction that sleeps before it is tried again has nothing under way. */
export const clockOfRetries: Clock = {
  now: () => underWayNow().clock.now(),
  sleep: (ms, signal) => {
    const { end, clock } = underWayNow();
    void end();
    return clock.sleep(ms, signal);
  },
};

function underWayNow(): UnderWay {
  const underWay = transactions.getStore();
  if (!underWay) throw new Error('only a transaction waits');
  return underWay;
}

/**
 * Each statement, begin and commit is a step. Statements of one transaction keep their order, as on their connection: those sent
 * without waiting go with the next that is awaited, and those sent together are one step.
 */
export function scheduledDatabase(
  inner: Database,
  { scheduler, instance, clock, log }: { scheduler: Scheduler; instance: Instance; clock: Clock; log: Log },
): Database {
  const slots = new Slots(connectionsMax);
  const single = async <Result>(label: string, body: () => Promise<Result>): Promise<Result> => {
    await slots.take();
    try {
      await scheduler.waitForStep(label);
      return await finish(instance, scheduler.beginStatement(label), body());
    } finally {
      slots.free();
    }
  };
  const withTransaction: Database['withTransaction'] = async (body, cause) => {
    await slots.take();
    try {
      await scheduler.waitForStep('begin');
      const underWay: UnderWay = { end: scheduler.beginStatement('begin'), clock };
      const run = async (scheduled: ScheduledTransaction) => {
        const value = await body(scheduled);
        await scheduled.runBeforeCommit();
        await scheduler.waitForStep('commit');
        return value;
      };
      const attempt = async (tx: Transaction) => {
        void underWay.end();
        const scheduled = new ScheduledTransaction(tx, { scheduler, instance, log });
        try {
          // Rolled back if the instance crashes: its connection outlives it.
          const result = await untilCrash(instance, new Error('the instance has crashed'), () => run(scheduled));
          scheduled.flush();
          underWay.end = scheduler.beginStatement('commit');
          return result;
        } catch (error) {
          underWay.end = scheduler.beginStatement('rollback');
          throw error;
        }
      };
      const result = transactions.run(underWay, () => inner.withTransaction(attempt, cause));
      return await finish(instance, () => underWay.end(), result);
    } finally {
      slots.free();
    }
  };
  return {
    rows: (statement) => single(statement.name, () => orderedRows(inner, statement)),
    row: (statement) => single(statement.name, () => inner.row(statement)),
    run: (statement) => single(statement.name, () => inner.run(statement)),
    withTransaction,
    dedicatedClient: () => inner.dedicatedClient(),
    get waiting() {
      return inner.waiting;
    },
    close: () => inner.close(),
  };
}

class ScheduledTransaction implements Transaction {
  readonly #inner: Transaction;
  readonly #parts: { scheduler: Scheduler; instance: Instance; log: Log };
  readonly #beforeCommit: ((tx: Transaction) => Promise<void>)[] = [];
  #unsent: (() => void)[] = [];
  #isWaiting = false;

  constructor(inner: Transaction, parts: { scheduler: Scheduler; instance: Instance; log: Log }) {
    this.#inner = inner;
    this.#parts = parts;
  }

  get requestId(): string | null {
    return this.#inner.requestId;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#step(statement, (tx) => orderedRows<Row>(tx, statement));
  }

  row<Row>(statement: Statement): Promise<Row | undefined> {
    return this.#step(statement, (tx) => tx.row<Row>(statement));
  }

  run(statement: Statement): Promise<number> {
    return this.#step(statement, (tx) => tx.run(statement));
  }

  send(statement: Statement): void {
    this.#unsent.push(() => this.#inner.send(statement));
  }

  /** Here and not by the inner transaction, because their statements are steps too. */
  beforeCommit(action: (tx: Transaction) => Promise<void>): void {
    this.#beforeCommit.push(action);
  }

  async runBeforeCommit(): Promise<void> {
    for (const action of this.#beforeCommit) await action(this);
  }

  afterCommit(action: () => void): void {
    const { instance, log } = this.#parts;
    this.#inner.afterCommit(() => {
      if (instance.hasCrashed) return;
      try {
        action();
      } catch (error) {
        log.error('an action after a commit failed', error);
      }
    });
  }

  flush(): void {
    for (const send of this.#unsent.splice(0)) send();
  }

  #step<Result>(statement: Statement, body: (tx: Queryable) => Promise<Result>): Promise<Result> {
    const { scheduler, instance } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<Result>();
    this.#unsent.push(() =>
      resolve(finish(instance, scheduler.beginStatement(statement.name, this), body(this.#inner))),
    );
    if (!this.#isWaiting) void this.#sendWithStep(statement.name);
    return promise;
  }

  async #sendWithStep(label: string): Promise<void> {
    this.#isWaiting = true;
    await this.#parts.scheduler.waitForStep(label);
    this.#isWaiting = false;
    this.flush();
  }
}

/** Where a statement asks for no order, PostgreSQL's is that of its files, which hold what earlier runs have left. */
async function orderedRows<Row>(db: Queryable, statement: Statement): Promise<Row[]> {
  const rows = await db.rows<Row>(statement);
  if (rows.length < 2 || /ORDER BY(?![^]*RETURNING)/.test(statement.text)) return rows;
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(row, withBigintAsText) }));
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ row }) => row);
}

function withBigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** An instance that crashed meanwhile never learns how it ended. */
async function finish<Result>(instance: Instance, end: () => Promise<void>, result: Promise<Result>): Promise<Result> {
  const settled = await result.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await end();
  if (instance.hasCrashed) return never();
  if ('error' in settled) throw settled.error;
  return settled.value;
}

/** Takes a connection before the step, because waiting for the pool would look like a statement that never ends. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
