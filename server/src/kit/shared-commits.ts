import { isDatabaseAway, isLockTimeout } from './db-errors.ts';
import type { Database, Transaction } from './db.ts';
import type { LimiterFigures } from './keyed-limiter.ts';
import { overloadError } from './public-error.ts';
import { runTogether, type Body, type Member, type ShareOptions } from './shared-transaction.ts';

/** Runs a change in a transaction, its own or a shared one. */
export type Transact = <Result>(body: Body<Result>, options?: ShareOptions) => Promise<Result>;

// As many rows as the largest merged insert has. More would not be faster, and whoever came first would wait longer.
const membersMax = 32;

// Some eight batches: about a second of a busy merchant's requests. This bounds the memory.
const usualWaitingMax = 8 * membersMax;

interface SharedCommitsOptions {
  /** How many connections one key's changes may use when each has to go on alone. */
  aloneMax: number;
  /** In the metrics. */
  name?: string;
  /** How many changes of one key may wait; another one is refused. */
  waitingMax?: number;
}

/**
 * Transactions that share their commits. The changes of one key that arrive while a transaction of that key is under way run in
 * the next one, one after the other, and their inserts are sent as statements of many rows: one commit answers them all. A change
 * that comes alone runs at once, in a transaction of its own. Changes that name their row run at once in the next transaction.
 *
 * A change that is refused leaves the others alone. When a statement fails, everything is rolled back and done again in halves,
 * down to the change that failed; when another process has locked a row, each goes on alone. When the database is away, all fail,
 * because a commit whose answer was lost may have happened.
 */
export class SharedCommits implements LimiterFigures {
  readonly name: string;
  readonly #db: Database;
  readonly #aloneMax: number;
  readonly #waitingMax: number;
  /** By key, while a transaction of it runs. */
  readonly #waiting = new Map<string, Member[]>();
  #waitingCount = 0;
  #refusedCount = 0;
  #splitCount = 0;

  constructor(db: Database, { aloneMax, name = 'commits', waitingMax = usualWaitingMax }: SharedCommitsOptions) {
    this.name = name;
    this.#waitingMax = waitingMax;
    this.#db = db;
    this.#aloneMax = aloneMax;
  }

  /** The keys with a transaction under way. */
  get inUse(): number {
    return this.#waiting.size;
  }

  /** The changes that wait for the transaction before theirs. */
  get waiting(): number {
    return this.#waitingCount;
  }

  get refused(): number {
    return this.#refusedCount;
  }

  /** How often a shared transaction was rolled back, and its changes done again. */
  get splits(): number {
    return this.#splitCount;
  }

  /** Runs a change, together with others of its key that wait. Rejects with what the change throws, like a transaction. */
  run<Result>(key: string, body: Body<Result>, options: ShareOptions = {}): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const member = { body, options, resolve: resolve as Member['resolve'], reject };
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#start(key, member);
    else if (waiting.length >= this.#waitingMax) {
      this.#refusedCount += 1;
      const message = 'Too many of your requests wait for each other. Send this one again in a second.';
      reject(overloadError('unavailable', message));
    } else {
      waiting.push(member);
      this.#waitingCount += 1;
    }
    return promise;
  }

  /** Runs a change in a transaction of its own. */
  runAlone<Result>(body: Body<Result>, { requestId, claim }: ShareOptions = {}): Promise<Result> {
    const run = (tx: Transaction) =>
      body(tx, async () => (claim === undefined || (await tx.run(claim.insert)) === 1 ? 'inserted' : 'used'));
    return this.#db.withTransaction(run, requestId === undefined ? undefined : { requestId });
  }

  #start(key: string, first: Member): void {
    const waiting: Member[] = [];
    this.#waiting.set(key, waiting);
    if (first.options.row === undefined) return void this.#commitAll(key, [first], waiting);
    // With what else comes in this turn of the event loop, such as the tasks of one claim.
    process.nextTick(() => {
      waiting.unshift(first);
      this.#waitingCount += 1;
      void this.#commitAll(key, this.#takeBatch(waiting), waiting);
    });
  }

  async #commitAll(key: string, first: Member[], waiting: Member[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#takeBatch(waiting)) await this.#commit(batch);
    this.#waiting.delete(key);
  }

  /** A second change with the same claim or row waits for the first to be committed. */
  #takeBatch(waiting: Member[]): Member[] {
    const claimed = new Set<string>();
    const batch: Member[] = [];
    for (const member of waiting) {
      const own = member.options.row ?? member.options.claim?.rowKey;
      if (batch.length === membersMax) break;
      if (own !== undefined && claimed.has(own)) continue;
      if (own !== undefined) claimed.add(own);
      batch.push(member);
    }
    const chosen = new Set(batch);
    waiting.splice(0, waiting.length, ...waiting.filter((member) => !chosen.has(member)));
    this.#waitingCount -= batch.length;
    return batch;
  }

  async #commit(batch: readonly Member[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    if (batch.length === 1) return this.runAlone(first.body, first.options).then(first.resolve, first.reject);
    try {
      const outcomes = await this.#db.withTransaction((tx) => runTogether(tx, batch));
      for (const settle of outcomes) if (settle !== 'alone') settle();
      const alone = batch.filter((_, index) => outcomes[index] === 'alone');
      if (alone.length > 0) void this.#commitEach(alone);
    } catch (error) {
      if (isDatabaseAway(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      this.#splitCount += 1;
      if (isLockTimeout(error)) return this.#commitEach(batch);
      const half = Math.ceil(batch.length / 2);
      await this.#commit(batch.slice(0, half));
      await this.#commit(batch.slice(half));
    }
  }

  /** Each alone, a few at a time. */
  async #commitEach(batch: readonly Member[]): Promise<void> {
    const members = batch.values();
    const commitNext = async () => {
      for (const member of members) await this.#commit([member]);
    };
    await Promise.all(Array.from({ length: this.#aloneMax }, commitNext));
  }
}
