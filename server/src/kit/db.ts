import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';
import { batchWrites, keepAliveOptions, typesWithBigInt, type PooledClient } from './db-driver.ts';
import { isRetryable, sqlState, translateError } from './db-errors.ts';

/** One SQL statement. The name is fixed for its text, so that each connection plans it once (2.4 times as fast). */
export interface Statement {
  name: string;
  text: string;
  values: readonly unknown[];
  /** Names the row that an INSERT writes, or one of its new rows: several such statements with different rows may be sent as one. */
  rowKey?: string;
  /** How several of it are sent as one. */
  many?: ManyRows;
  /** The index of an amount: several such statements that differ only there are sent as one, with the sum of their amounts. */
  adds?: number;
  /** That it finds nothing holds for all changes of a shared transaction that run at once; what it finds, each may change. */
  emptyForAll?: true;
  /**
   * Outside of a transaction it returns before the disk has what it wrote, which a crash of PostgreSQL within the next 0.6 s (three
   * times `wal_writer_delay`) undoes. For leases, which are then taken again.
   */
  commitsAsynchronously?: true;
}

/** How several of a statement, each about another row, are sent as one. */
export interface ManyRows {
  /** This statement's row, as the result names it in `column`. */
  key: string;
  column: string;
  /** How many of the values, from the first on, are the same for all, such as the merchant. */
  sharedValues: number;
  /** The parameters of one row: `$2`, or `($2::uuid, $3::text)`. Those of shared values are the same in each row. */
  parameters: string;
  /** The statement with a list of those. It returns a row for each that it found or wrote. */
  text: (list: string) => string;
  /** Whether it leaves out rows that another transaction has locked. The statement for one row waits for them. */
  skipsLocked?: true;
}

/** A transaction, or the pool for a single statement. */
export interface Queryable {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** The only row, or undefined; more than one is a bug. */
  row<Row>(statement: Statement): Promise<Row | undefined>;
  /** Returns how many rows were changed. */
  run(statement: Statement): Promise<number>;
}

export interface Transaction extends Queryable {
  /** The request that caused this transaction; null for background work. */
  readonly requestId: string | null;
  /**
   * What it has read under locks that it still holds, by names that its readers give, for those who come after them in it. Null
   * for changes of a shared transaction that run at once.
   */
  readonly memory: Map<string, bigint> | null;
  /**
   * Sends a statement without waiting for its result: it is pipelined with the ones after it, and if it fails, so does the
   * commit. For writes whose result is not needed.
   */
  send(statement: Statement): void;
  /**
   * Runs as the last of the transaction, with it or the one that it shares. What it throws fails the transaction. For what is
   * written once for everything that the transaction did.
   */
  beforeCommit(action: (tx: Transaction) => Promise<void>): void;
  /** Runs after a confirmed commit. What it throws is reported and fails nothing. */
  afterCommit(action: () => void): void;
}

/** What causes a transaction. */
export interface TransactionCause {
  requestId: string;
}

export interface Database extends Queryable {
  withTransaction<Result>(body: (tx: Transaction) => Promise<Result>, cause?: TransactionCause): Promise<Result>;
  /** A dedicated connection for LISTEN; the caller ends it. */
  dedicatedClient(): Promise<pg.Client>;
  readonly waiting: number;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Size of this process's pool: a transaction holds a connection, and a request waits for a free one. */
  connectionsMax: number;
  clock: Clock;
  onConnectionError: (error: Error) => void;
  /** Gets what `afterCommit` actions throw: a committed transaction does not fail because of them. */
  onAfterCommitError?: (error: unknown) => void;
  /** For long reads by the operator; requests use the default. */
  statementTimeoutMs?: number;
  /**
   * For tests: fails code that asks for a second connection inside a transaction. Once such transactions hold all
   * connections, they wait for each other forever.
   */
  refuseNestedUse?: boolean;
  /**
   * For tests in which many compete for one lock: locks, statements and connections time out after a minute, because on a
   * busy machine the last of them would run into the usual limit.
   */
  isPatient?: boolean;
}

// How long a request waits for a lock before it is refused. A little more than `deadlock_timeout` (1 s): at equal times the
// lock timeout wins, and a deadlock victim, which can be retried, would look like a timeout, which cannot.
const lockTimeoutMs = 1_200;
// No statement takes seconds; one that does must not hold a connection forever.
const statementTimeoutMs = 10_000;
const idleInTransactionTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
const longTimeoutMs = 60_000;
const retriesMax = 5;

export function openDatabase(options: DatabaseOptions): Database {
  const timeoutOf = (usualMs: number): number => (options.isPatient === true ? longTimeoutMs : usualMs);
  const config: pg.PoolConfig = {
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: timeoutOf(connectTimeoutMs),
    statement_timeout: options.statementTimeoutMs ?? timeoutOf(statementTimeoutMs),
    lock_timeout: timeoutOf(lockTimeoutMs),
    idle_in_transaction_session_timeout: timeoutOf(idleInTransactionTimeoutMs),
    application_name: 'dalasi',
    ...keepAliveOptions,
    pipeline: true,
    types: typesWithBigInt(),
  };
  return new PooledDatabase(config, options);
}

class PooledDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #options: DatabaseOptions;
  readonly #inTransaction = new AsyncLocalStorage<true>();
  #isClosed = false;

  constructor(config: pg.PoolConfig, options: DatabaseOptions) {
    this.#pool = new pg.Pool(config);
    this.#options = options;
    // Without a listener the process ends. The pool only repeats the error of the idle connection.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#reportLoss(client));
  }

  /**
   * Reports once for each connection: an idle one emits the server's error first, and then that it has ended. Losing a
   * connection while closing is expected.
   */
  #reportLoss(client: Pick<pg.Client, 'on' | 'once'>): void {
    client.once('error', (error: Error) => {
      if (!this.#isClosed) this.#options.onConnectionError(error);
    });
    client.on('error', () => {});
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    return (await this.#query(statement)).rows as Row[];
  }

  async row<Row>(statement: Statement): Promise<Row | undefined> {
    return onlyRow<Row>(await this.#query(statement), statement);
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).rowCount ?? 0;
  }

  async #query(statement: Statement): Promise<pg.QueryResult> {
    this.#assertNotNested();
    try {
      if (statement.commitsAsynchronously === true) return await this.#commitAsynchronously(statement);
      return await this.#pool.query(queryConfig(statement));
    } catch (error) {
      throw translateError(error);
    }
  }

  /** In one write, as a single statement. PostgreSQL answers the commit after a failed statement with a rollback. */
  async #commitAsynchronously(statement: Statement): Promise<pg.QueryResult> {
    const client = (await this.#pool.connect()) as PooledClient;
    batchWrites(client.connection.stream);
    try {
      const [, result] = await Promise.all([
        client.query('BEGIN; SET LOCAL synchronous_commit = off'),
        client.query(queryConfig(statement)),
        client.query('COMMIT'),
      ]);
      client.release();
      return result;
    } catch (error) {
      // As the pool does after a single statement; what was sent after it ends with the connection.
      client.release(error as Error);
      throw error;
    }
  }

  async withTransaction<Result>(body: (tx: Transaction) => Promise<Result>, cause?: TransactionCause): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attemptTransaction(body, cause?.requestId ?? null);
      } catch (error) {
        if (attempt >= retriesMax || !isRetryable(error)) throw translateError(error);
        // The growing delay keeps two transactions that collided from colliding again.
        await this.#options.clock.sleep(attempt * attempt * 5);
      }
    }
  }

  #assertNotNested(): void {
    const isNested = this.#inTransaction.getStore() === true;
    assert(!isNested, 'a transaction asks for a second connection; pass its tx on instead');
  }

  async #attemptTransaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    requestId: string | null,
  ): Promise<Result> {
    this.#assertNotNested();
    const client = (await this.#pool.connect()) as PooledClient;
    const tx = new ClientTransaction(client, requestId);
    const result = await this.#runOn(client, tx, body);
    // The transaction is committed and the connection released: an error from here on must neither roll back nor make the
    // caller retry.
    tx.runAfterCommit((error) => this.#options.onAfterCommitError?.(error));
    return result;
  }

  async #runOn<Result>(
    client: PooledClient,
    tx: ClientTransaction,
    body: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> {
    try {
      tx.begin();
      const { refuseNestedUse = false } = this.#options;
      const run = async () => {
        const value = await body(tx);
        await tx.runBeforeCommit();
        return value;
      };
      const result = await (refuseNestedUse ? this.#inTransaction.run(true, run) : run());
      await tx.commit();
      client.release();
      return result;
    } catch (error) {
      await tx.rollback().then(
        () => client.release(),
        (rollbackError: Error) => client.release(rollbackError),
      );
      // 25P02 ("current transaction is aborted") only follows from an earlier failure, which says why.
      throw sqlState(error) === '25P02' ? (tx.failure ?? error) : error;
    }
  }

  async dedicatedClient(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: 'dalasi listener',
      ...keepAliveOptions,
      // A hint does not wait for the result of the one before.
      pipeline: true,
    });
    this.#reportLoss(client);
    await client.connect();
    return client;
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }
}

class ClientTransaction implements Transaction {
  readonly #client: PooledClient;
  readonly #sent: Promise<unknown>[] = [];
  readonly #beforeCommit: ((tx: Transaction) => Promise<void>)[] = [];
  readonly #afterCommit: (() => void)[] = [];
  readonly requestId: string | null;
  readonly memory = new Map<string, bigint>();
  /** The error of the first statement that failed. */
  failure: unknown;

  constructor(client: PooledClient, requestId: string | null) {
    this.#client = client;
    this.requestId = requestId;
  }

  begin(): void {
    this.#track(this.#query('BEGIN'));
  }

  async rows<Row>(statement: Statement): Promise<Row[]> {
    return (await this.#query(queryConfig(statement))).rows as Row[];
  }

  async row<Row>(statement: Statement): Promise<Row | undefined> {
    return onlyRow<Row>(await this.#query(queryConfig(statement)), statement);
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(queryConfig(statement))).rowCount ?? 0;
  }

  send(statement: Statement): void {
    this.#track(this.#query(queryConfig(statement)));
  }

  beforeCommit(action: (tx: Transaction) => Promise<void>): void {
    this.#beforeCommit.push(action);
  }

  afterCommit(action: () => void): void {
    this.#afterCommit.push(action);
  }

  /** An action may add another one. */
  async runBeforeCommit(): Promise<void> {
    for (const action of this.#beforeCommit) await action(this);
  }

  /** After a failed statement the server answers COMMIT with ROLLBACK; that statement's error says why. */
  async commit(): Promise<void> {
    const commit = this.#query('COMMIT');
    this.#track(commit);
    await Promise.all(this.#sent);
    const { command } = await commit;
    if (command !== 'COMMIT') throw new Error(`the database answered ${command} to a commit`);
  }

  async rollback(): Promise<void> {
    await Promise.allSettled(this.#sent);
    await this.#query('ROLLBACK');
  }

  runAfterCommit(onError: (error: unknown) => void): void {
    for (const action of this.#afterCommit) {
      try {
        action();
      } catch (error) {
        onError(error);
      }
    }
  }

  #query(query: pg.QueryConfig | string): Promise<pg.QueryResult> {
    batchWrites(this.#client.connection.stream);
    const result = this.#client.query(query);
    // With pipelined statements the error of a later one, which only follows from the first, may be handled before it.
    result.catch((error: unknown) => {
      this.failure ??= error;
    });
    return result;
  }

  /** Awaited at the commit; `#query` handles its rejection until then. */
  #track(promise: Promise<unknown>): void {
    this.#sent.push(promise);
  }
}

function queryConfig(statement: Statement): pg.QueryConfig {
  return { name: statement.name, text: statement.text, values: statement.values as unknown[] };
}

function onlyRow<Row>(result: pg.QueryResult, statement: Statement): Row | undefined {
  if (result.rows.length > 1) throw new Error(`statement ${statement.name} returned ${result.rows.length} rows`);
  return result.rows[0] as Row | undefined;
}
