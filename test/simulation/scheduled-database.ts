import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';
import type { Instance } from './instance.ts';
import { never } from './instance.ts';
import type { Scheduler } from './scheduler.ts';

/** Ends the statement that a transaction has under way. */
interface UnderWay {
  end: () => Promise<void>;
}

const transactions = new AsyncLocalStorage<UnderWay>();

/** The clock of the database's own waits: a transaction that sleeps before it is tried again has nothing under way. */
export function clockOfRetries(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    sleep: (ms, signal) => {
      void transactions.getStore()?.end();
      return clock.sleep(ms, signal);
    },
  };
}

/**
 * Each statement, begin and commit is a step. Statements of one transaction keep their order, as on their connection: those sent
 * without waiting go with the next that is awaited, and those sent together are one step.
 */
export function scheduledDatabase(
  inner: Database,
  { scheduler, instance, connectionsMax }: { scheduler: Scheduler; instance: Instance; connectionsMax: number },
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
      const underWay: UnderWay = { end: scheduler.beginStatement('begin') };
      const attempt = async (tx: Transaction) => {
        void underWay.end();
        if (instance.hasCrashed) return never<never>();
        const scheduled = new ScheduledTransaction(tx, { scheduler, instance });
        try {
          const result = await body(scheduled);
          await scheduled.runBeforeCommit();
          await scheduler.waitForStep('commit');
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
    rows: (statement) => single(statement.name, () => inner.rows(statement)),
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
  readonly #parts: { scheduler: Scheduler; instance: Instance };
  readonly #beforeCommit: ((tx: Transaction) => Promise<void>)[] = [];
  #unsent: (() => void)[] = [];
  #isWaiting = false;

  constructor(inner: Transaction, parts: { scheduler: Scheduler; instance: Instance }) {
    this.#inner = inner;
    this.#parts = parts;
  }

  get requestId(): string | null {
    return this.#inner.requestId;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#step(statement, (tx) => tx.rows<Row>(statement));
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
    const { instance } = this.#parts;
    this.#inner.afterCommit(() => {
      if (!instance.hasCrashed) action();
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
