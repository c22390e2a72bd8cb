import { setImmediate as nextRound } from 'node:timers/promises';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database, Queryable, Statement, Transaction } from '../../server/src/kit/db.ts';
import { sqlState, translateError } from '../../server/src/kit/db-errors.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { PublicError } from '../../server/src/kit/public-error.ts';
import { writtenIds, type Commits } from './commits.ts';
import { never, untilCrash, type Instance } from './instance.ts';
import type { FaultKind } from './kinds.ts';
import type { Connection, Scheduler } from './scheduler.ts';
import { connectionsMax, transactions, type End, type UnderWay } from './under-way.ts';

const stateOfFault = { statement_timeout: '57014', deadlock: '40P01' } as const;
// That of `server/src/kit/db.ts`.
const usualLockTimeoutMs = 1_200;
// Whom a period pays out (`server/src/settlement/queries.ts`).
const listOfSettlement = 'settlement_list_unsettled';
const standsStillMs = 5_000;

interface ScheduledDatabaseOptions {
  scheduler: Scheduler;
  instance: Instance;
  clock: Clock;
  log: Log;
  commits: Commits;
}

/**
 * Each statement, begin and commit is a step. Statements of one transaction keep their order, as on their connection: those sent
 * without waiting go with the next that is awaited, and those sent together are one step.
 */
export function scheduledDatabase(
  inner: Database,
  { scheduler, instance, clock, log, commits }: ScheduledDatabaseOptions,
): Database {
  const slots = new Slots(connectionsMax);
  const single = async <Result>(label: string, send: () => Promise<Result>): Promise<Result> => {
    const result = await sendSingle({ inner, scheduler, instance, slots }, label, send);
    if (label === listOfSettlement && befalls(instance, 'slow_settlement')) {
      scheduler.note(`  ${instance.name} stands still`);
      await clock.sleep(standsStillMs);
    }
    return result;
  };
  const withTransaction: Database['withTransaction'] = async (body, cause) => {
    await slots.take();
    try {
      await scheduler.waitForStep('begin');
      let committing: ScheduledTransaction | undefined;
      const noteCommitted = commits.begin();
      const underWay: UnderWay = { end: scheduler.beginStatement('begin', undefined, 'statement'), clock };
      const run = async (scheduled: ScheduledTransaction) => {
        const value = await body(scheduled);
        await scheduled.runBeforeCommit();
        await scheduler.waitForStep('commit');
        return value;
      };
      const attempt = async (tx: Transaction) => {
        void underWay.end();
        const scheduled = new ScheduledTransaction(tx, { scheduler, instance, log });
        committing = scheduled;
        try {
          // Rolled back if the instance crashes: its connection outlives it.
          const result = await untilCrash(instance, new Error('the instance has crashed'), () => run(scheduled));
          scheduled.flush();
          underWay.end = scheduler.beginStatement('commit', scheduled);
          return result;
        } catch (error) {
          underWay.end = scheduler.beginStatement('rollback', scheduled);
          throw error;
        }
      };
      const result = transactions.run(underWay, async () => {
        const value = await inner.withTransaction(attempt, cause);
        noteCommitted(committing?.written ?? []);
        return value;
      });
      const value = await finish(instance, (hasFailed) => underWay.end(hasFailed), result);
      if (befalls(instance, 'commit_lost')) throw translateError(new Error('Connection terminated unexpectedly'));
      committing?.runAfterCommit();
      return value;
    } finally {
      slots.free();
    }
  };
  return {
    rows: (statement) => single(statement.name, () => orderedRows(inner, statement)),
    row: async (statement) =>
      // The networks send their callbacks themselves (networks.ts).
      statement.name === 'simulator_callback_next' ? undefined : single(statement.name, () => inner.row(statement)),
    run: (statement) => single(statement.name, () => inner.run(statement)),
    withTransaction,
    dedicatedClient: () => inner.dedicatedClient(),
    get waiting() {
      return inner.waiting;
    },
    close: () => inner.close(),
  };
}

/** A statement outside of a transaction. */
async function sendSingle<Result>(
  { inner, scheduler, instance, slots }: { inner: Database; scheduler: Scheduler; instance: Instance; slots: Slots },
  label: string,
  send: () => Promise<Result>,
): Promise<Result> {
  await slots.take();
  try {
    await scheduler.waitForStep(label);
    const connection = new SingleStatement();
    const body = failing<Result>(instance, inner) ?? send;
    const end = scheduler.beginStatement(label, connection);
    return await finish(
      instance,
      end,
      body().catch((error: unknown) => connection.fail(error)),
    );
  } finally {
    slots.free();
  }
}

class SingleStatement implements Connection {
  readonly lockTimeoutMs = usualLockTimeoutMs;
  #code: string | undefined;

  failWith(code: string): void {
    this.#code = code;
  }

  fail(error: unknown): never {
    if (this.#code !== undefined) setState(error instanceof PublicError ? error.cause : error, this.#code);
    throw error;
  }
}

class ScheduledTransaction implements Transaction, Connection {
  lockTimeoutMs = usualLockTimeoutMs;
  readonly #inner: Transaction;
  readonly #parts: { scheduler: Scheduler; instance: Instance; log: Log };
  readonly #beforeCommit: ((tx: Transaction) => Promise<void>)[] = [];
  readonly #afterCommit: (() => void)[] = [];
  /** The ids of rows whose order counts (commits.ts). */
  readonly written: string[] = [];
  #unsent: ((group: Group) => void)[] = [];
  #isWaiting = false;

  constructor(inner: Transaction, parts: { scheduler: Scheduler; instance: Instance; log: Log }) {
    this.#inner = inner;
    this.#parts = parts;
  }

  get requestId(): string | null {
    return this.#inner.requestId;
  }

  get memory(): Transaction['memory'] {
    return this.#inner.memory;
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
    // A timeout in real time would depend on how busy this machine is.
    const lockTimeoutMs = /set_config\('lock_timeout', '(\d+)ms'/.exec(statement.text)?.[1];
    this.written.push(...writtenIds(statement));
    if (lockTimeoutMs === undefined) this.#unsent.push(() => this.#inner.send(statement));
    else this.lockTimeoutMs = Number(lockTimeoutMs);
  }

  /** The transaction decides by its first failure whether it is tried again. */
  failWith(code: string): void {
    let failure: unknown;
    Object.defineProperty(this.#inner, 'failure', {
      get: () => failure,
      set: (error: unknown) => {
        failure = error;
        setState(error, code);
      },
    });
  }

  /** Here and not by the inner transaction, because their statements are steps too. */
  beforeCommit(action: (tx: Transaction) => Promise<void>): void {
    this.#beforeCommit.push(action);
  }

  async runBeforeCommit(): Promise<void> {
    for (const action of this.#beforeCommit) await action(this);
  }

  afterCommit(action: () => void): void {
    this.#afterCommit.push(action);
  }

  /** Not by the inner transaction: a commit that waited for a lock ends while other code runs. */
  runAfterCommit(): void {
    for (const action of this.#afterCommit) {
      try {
        action();
      } catch (error) {
        this.#parts.log.error('an action after a commit failed', error);
      }
    }
  }

  flush(): void {
    const group = new Group();
    for (const send of this.#unsent.splice(0)) send(group);
    group.close();
  }

  #step<Result>(statement: Statement, body: (tx: Queryable) => Promise<Result>): Promise<Result> {
    const { scheduler, instance } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<Result>();
    this.#unsent.push((group) => {
      const end = scheduler.beginStatement(statement.name, this, 'statement');
      const result = failing<Result>(instance, this.#inner)?.() ?? body(this.#inner);
      resolve(finish(instance, end, group.inOrder(result)));
    });
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

/**
 * Statements that are sent together. Whether their responses come in one read of the socket or in several would decide whose code
 * goes on first, so they are passed on one after the other, when all have come.
 */
class Group {
  readonly #results: Promise<unknown>[] = [];
  readonly #all = Promise.withResolvers<void>();

  async inOrder<Result>(result: Promise<Result>): Promise<Result> {
    const position = this.#results.push(result) - 1;
    await this.#all.promise;
    for (let round = 0; round < position; round += 1) await nextRound();
    return result;
  }

  close(): void {
    void Promise.allSettled(this.#results).then(() => this.#all.resolve());
  }
}

/** Whether this is the machine's next fault, which is then over. */
function befalls({ machine }: Instance, kind: FaultKind): boolean {
  if (machine.databaseFault !== kind) return false;
  machine.databaseFault = undefined;
  return true;
}

/** A statement that fails instead of the machine's next one. */
function failing<Result>(instance: Instance, db: Queryable): (() => Promise<Result>) | undefined {
  const kind = Object.keys(stateOfFault).find((one) => befalls(instance, one as FaultKind));
  if (kind === undefined) return undefined;
  const state = stateOfFault[kind as keyof typeof stateOfFault];
  const text = `DO $$ BEGIN RAISE EXCEPTION '${kind}' USING ERRCODE = '${state}'; END $$`;
  return () => db.run({ name: `simulation_${kind}`, text, values: [] }) as Promise<never>;
}

/** Where a statement asks for no order, PostgreSQL's is that of its files, which hold what earlier runs have left. */
export async function orderedRows<Row>(db: Queryable, statement: Statement): Promise<Row[]> {
  const rows = await db.rows<Row>(withOneOrder(statement));
  if (rows.length < 2 || hasOrder(statement.text)) return rows;
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(row, withBigintAsText) }));
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ row }) => row);
}

/** Whether it asks for the order of its rows, and not only for one of what it reads within brackets. */
function hasOrder(text: string): boolean {
  const outer = text.replaceAll(/\([^()]*\)/g, '');
  return outer === text ? text.includes('ORDER BY') : hasOrder(outer);
}

// Their order is that of a time, and tells whose work comes first.
const orderedByTime = /_claim|^outbox_due_lately$|^circuit_breakers_list$/;
const untilLimit = /(FROM (?:\w+\.)?(\w+)\s+WHERE[^]*?ORDER BY [^]*?_at(?: DESC| AT TIME ZONE 'UTC'\))?)( LIMIT)/;

/** What has the same time comes in the order of its rows, where else in that of the files. */
function withOneOrder(statement: Statement): Statement {
  if (!orderedByTime.test(statement.name)) return statement;
  return { ...statement, text: statement.text.replace(untilLimit, '$1, $2::text$3') };
}

function withBigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** An instance that crashed meanwhile never learns how it ended. */
async function finish<Result>(instance: Instance, end: End, result: Promise<Result>): Promise<Result> {
  const settled = await result.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await end('error' in settled);
  if (instance.hasCrashed) return never();
  if ('error' in settled) throw settled.error;
  return settled.value;
}

/** Of a cancelled statement. */
function setState(error: unknown, code: string): void {
  if (sqlState(error) === '57014') Object.assign(error as Error, { code });
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
