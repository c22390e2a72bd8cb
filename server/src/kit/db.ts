import { AsyncLocalStorage } from 'node:async_hooks';
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { AppError } from './app-error.ts';
import { assert } from './assert.ts';
import type { Clock } from './clock.ts';

/** One SQL statement. The name is fixed for its text, so that each connection plans it once (2.4 times as fast). */
export interface Statement {
  name: string;
  text: string;
  values: readonly unknown[];
}

/** What a `queries.ts` function needs: a transaction, or the pool for a single statement. */
export interface Queryable {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** The only row, or undefined; more than one is a mistake of ours. */
  row<Row>(statement: Statement): Promise<Row | undefined>;
  /** Answers how many rows were touched. */
  run(statement: Statement): Promise<number>;
}

export interface Transaction extends Queryable {
  /** The request that this transaction is for; null for work that nobody asked for just now. */
  readonly requestId: string | null;
  /**
   * Sends a statement without waiting for its answer: it travels with the ones after it, and the commit fails when it
   * did. For writes whose result nobody reads.
   */
  send(statement: Statement): void;
  /** Runs once the commit is known to have happened. What it throws is reported and fails nothing. */
  afterCommit(action: () => void): void;
}

/** What a transaction is for. */
export interface TransactionCause {
  requestId: string;
}

export interface Database extends Queryable {
  withTransaction<Result>(body: (tx: Transaction) => Promise<Result>, cause?: TransactionCause): Promise<Result>;
  /** A connection of its own for LISTEN; the caller releases it by ending it. */
  dedicatedClient(): Promise<pg.Client>;
  readonly waiting: number;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Connections of this process: one transaction each, and a request waits for a free one. */
  connectionsMax: number;
  clock: Clock;
  onConnectionError: (error: Error) => void;
  /** Hears what `afterCommit` actions throw: what is committed does not fail because of it. */
  onAfterCommitError?: (error: unknown) => void;
  /** For an operator's long reads; requests keep the default. */
  statementTimeoutMs?: number;
  /**
   * Fails whoever asks for a second connection inside a transaction, for tests. When all connections are held by such,
   * each waits for another to be given back, and nobody gets one.
   */
  refuseNestedUse?: boolean;
  /**
   * Gives locks, statements and connections a minute, for tests in which many want the same one: on a machine that is busy,
   * or stands still for a second, the last of them would hear that it took too long.
   */
  isPatient?: boolean;
}

// A request waits this long for a lock before it is told to come back. A little more than the second after which the
// server looks for a deadlock: at the same moment the lock's timeout wins, and a victim that may be run again would be
// told as one that may not.
const lockTimeoutMs = 1_200;
// No statement of ours takes seconds; one that does must not hold a connection for ever.
const statementTimeoutMs = 10_000;
const idleInTransactionTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
const longTimeoutMs = 60_000;
const retriesMax = 5;

/**
 * A machine that loses its power, and a firewall that forgets a quiet connection, say no goodbye: the listener, which only
 * waits, would wait for ever. After ten quiet seconds the system asks, ten times a second apart, and then it is lost.
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
    // Without a listener the process ends. The pool only repeats what the idle connection itself has said.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#reportLoss(client));
  }

  /**
   * Once for each connection: one that nobody uses says first what the server told it, and then that it has ended. A
   * connection that is lost while we close it is what we want.
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
        // Two that collided must not collide again in step; the attempt number spreads them enough.
        await this.#options.clock.sleep(attempt * attempt * 5);
      }
    }
  }

  #assertNotNested(): void {
    const isNested = this.#inTransaction.getStore() === true;
    assert(!isNested, 'a transaction asks for a second connection; hand its tx on instead');
  }

  async #attemptTransaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    requestId: string | null,
  ): Promise<Result> {
    this.#assertNotNested();
    const client = (await this.#pool.connect()) as PooledClient;
    const tx = new ClientTransaction(client, requestId);
    const result = await this.#runOn(client, tx, body);
    // The connection is somebody else's from here on, and what was written stays: a mistake in what follows must
    // neither roll back nor make the caller do it again.
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
      // "current transaction is aborted" only repeats that an earlier statement failed; that one says why.
      throw sqlState(error) === '25P02' ? (tx.failure ?? error) : error;
    }
  }

  async dedicatedClient(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: 'dalasi listener',
      ...keepAliveOptions,
      // Hints follow each other without waiting for the answer to the one before.
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
  /** Why the first statement that failed did. */
  failure: unknown;

  constructor(client: PooledClient, requestId: string | null) {
    this.#client = client;
    this.requestId = requestId;
  }

  begin(): void {
    this.#keep(this.#query('BEGIN'));
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
    this.#keep(this.#query(queryConfig(statement)));
  }

  afterCommit(action: () => void): void {
    this.#afterCommit.push(action);
  }

  /** A failed statement that was sent makes COMMIT answer ROLLBACK; its own error says why. */
  async commit(): Promise<void> {
    const commit = this.#query('COMMIT');
    this.#keep(commit);
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
    // Of statements that travel together, a later one may be heard of first, and it only repeats that one has failed.
    result.catch((error: unknown) => {
      this.failure ??= error;
    });
    return result;
  }

  /** Its rejection is seen at the commit, and `#query` handles it until then. */
  #keep(promise: Promise<unknown>): void {
    this.#sent.push(promise);
  }
}

/**
 * What is written to a connection within one turn of the event loop leaves in one system call: the driver by itself
 * makes one for each statement, and those were half of the processor time of creating an intent.
 */
function batchWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  // Runs once no promise is left to go on, so after the statements that wait for nobody's answer.
  process.nextTick(() => stream.uncork());
}

function queryConfig(statement: Statement): pg.QueryConfig {
  return { name: statement.name, text: statement.text, values: statement.values as unknown[] };
}

function onlyRow<Row>(result: pg.QueryResult, statement: Statement): Row | undefined {
  if (result.rows.length > 1) throw new Error(`statement ${statement.name} answered ${result.rows.length} rows`);
  return result.rows[0] as Row | undefined;
}

/** Deadlocks and serialization failures are known to have changed nothing; nothing else is retried. */
function isRetryable(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/**
 * Whether the error says that this unique constraint or index was broken. The name is read from the message, because
 * Citus passes no constraint field and adds a shard number to the name.
 *
 * @internal
 */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  if (sqlState(error) !== '23505' || !(error instanceof Error)) return false;
  return new RegExp(`"${constraint}(_\\d+)?"`).test(error.message);
}

// By class: lost connections, a role or password that is no longer accepted, lack of room, an operator's doing, the disk;
// then a standby, collisions that went on, a database that is gone, and rights that were taken away. None is a bug: the
// grants of the serving role follow from the migrations, so a right that is missing was lost at the database.
const unavailableClasses = ['08', '28', '53', '57', '58'];
const unavailableStates = new Set(['25006', '40001', '40P01', '3D000', '42501']);
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
  // The server ends or refuses the whole connection with it, whatever the reason: a database that takes no connections (55000).
  if (error instanceof pg.DatabaseError && error.severity === 'FATAL') return true;
  if (state !== undefined) return unavailableClasses.includes(state.slice(0, 2)) || unavailableStates.has(state);
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && unavailableNetworkCodes.has(code)) return true;
  return (
    error instanceof Error &&
    /connection (terminated|timeout|error)|not queryable|timeout exceeded/i.test(error.message)
  );
}

// The database answers, but gave this up: it waited too long for a lock, or worked too long.
const gaveUpMessages = new Map([
  ['55P03', 'Something else is changing this just now. Try again in a second.'],
  ['57014', 'This took too long and was given up. Try again in a second.'],
]);

/** A database that does not answer is not our caller's fault and not a bug: 503, come back. */
function translateError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const gaveUp = gaveUpMessages.get(sqlState(error) ?? '');
  if (gaveUp === undefined && !isUnavailable(error)) return error;
  const message = gaveUp ?? 'The service cannot reach its database just now. Try again in a second.';
  return new AppError('unavailable', message, { retryAfterSeconds: 1, cause: error });
}
