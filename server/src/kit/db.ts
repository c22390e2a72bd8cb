import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';
import { overloadError, PublicError } from './public-error.ts';

/** One SQL statement. The name is fixed for its text, so that each connection plans it once (2.4 times as fast). */
export interface Statement {
  name: string;
  text: string;
  values: readonly unknown[];
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
   * Sends a statement without waiting for its result: it is pipelined with the ones after it, and if it fails, so does the
   * commit. For writes whose result is not needed.
   */
  send(statement: Statement): void;
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

/**
 * Without keep-alive the listener would never notice that a host lost power, or that a firewall dropped an idle connection.
 * After ten idle seconds the operating system sends ten probes, a second apart, and then reports the connection as lost.
 */
const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

const int8 = 20;

/** bigint columns arrive as BigInt; the driver's default is text. */
function typesWithBigInt(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(int8, (text) => BigInt(text));
  return types;
}

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
      return await this.#pool.query(queryConfig(statement));
    } catch (error) {
      throw translateError(error);
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
      const result = await (refuseNestedUse ? this.#inTransaction.run(true, () => body(tx)) : body(tx));
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

/** The driver's types leave out that its pool holds ordinary clients. */
type PooledClient = pg.PoolClient & Pick<pg.Client, 'connection'>;

class ClientTransaction implements Transaction {
  readonly #client: PooledClient;
  readonly #sent: Promise<unknown>[] = [];
  readonly #afterCommit: (() => void)[] = [];
  readonly requestId: string | null;
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

  afterCommit(action: () => void): void {
    this.#afterCommit.push(action);
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

/**
 * Writes to a connection within one turn of the event loop go out in one system call. The driver makes one for each
 * statement, which took half of the processor time of creating a payment.
 */
function batchWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  // Runs after all pending promise callbacks, so after the statements that are sent without waiting.
  process.nextTick(() => stream.uncork());
}

function queryConfig(statement: Statement): pg.QueryConfig {
  return { name: statement.name, text: statement.text, values: statement.values as unknown[] };
}

function onlyRow<Row>(result: pg.QueryResult, statement: Statement): Row | undefined {
  if (result.rows.length > 1) throw new Error(`statement ${statement.name} returned ${result.rows.length} rows`);
  return result.rows[0] as Row | undefined;
}

/** Deadlocks and serialization failures have changed nothing; nothing else is retried. */
function isRetryable(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/**
 * Whether the error is a violation of this unique constraint or index. The name is read from the message, because Citus
 * sets no constraint field and appends a shard number to the name.
 */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  if (sqlState(error) !== '23505' || !(error instanceof Error)) return false;
  return new RegExp(`"${constraint}(_\\d+)?"`).test(error.message);
}

// Classes: lost connections, refused logins, insufficient resources, operator intervention, system errors. States: a standby,
// deadlocks beyond the retries, a missing database, missing privileges. None is a bug: the grants of the serving role follow
// from the migrations, so a missing privilege was revoked at the database. Without that on the schema, no table is found; a
// mistyped table looks the same, and tests find it.
const unavailableClasses = ['08', '28', '53', '57', '58'];
const unavailableStates = new Set(['25006', '40001', '40P01', '3D000', '42501', '42P01']);
const unavailableNetworkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  // The server ends or refuses the connection with it, for any reason: a database that takes no connections (55000).
  if (error instanceof pg.DatabaseError && error.severity === 'FATAL') return true;
  if (state !== undefined) return unavailableClasses.includes(state.slice(0, 2)) || unavailableStates.has(state);
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && unavailableNetworkCodes.has(code)) return true;
  return (
    error instanceof Error &&
    /connection (terminated|timeout|error)|not queryable|timeout exceeded/i.test(error.message)
  );
}

// Timeouts of the database: of a lock and of a statement.
const timeoutMessages = new Map([
  ['55P03', 'Something else is changing this just now. Try again in a second.'],
  ['57014', 'This took too long and was given up. Try again in a second.'],
]);

/** A database that does not answer is neither the caller's fault nor a bug: 503, try again. */
function translateError(error: unknown): unknown {
  if (error instanceof PublicError) return error;
  const timeoutMessage = timeoutMessages.get(sqlState(error) ?? '');
  if (timeoutMessage === undefined && !isUnavailable(error)) return error;
  const message = timeoutMessage ?? 'The service cannot reach its database just now. Try again in a second.';
  return overloadError('unavailable', message, error);
}
