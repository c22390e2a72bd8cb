import { isDatabaseAway, isLockTimeout } from './db-errors.ts';
import type { Database, Statement, Transaction, TransactionCause } from './db.ts';
import type { LimiterFigures } from './keyed-limiter.ts';
import { MergedWrites } from './merged-writes.ts';
import { overloadError } from './public-error.ts';

/** A row that a change must be the first to write, such as an idempotency key. */
export interface Claim {
  /** Two changes with the same row never share a transaction. */
  rowKey: string;
  /** Inserts the row if it is new; waits for another transaction that is inserting it. */
  insert: Statement;
  find: Statement;
}

/**
 * What became of a claim. `inserted`: the row is there, and the change may complete it. `free`: the row is not there, and the change
 * must insert it itself, which fails if another process has done so since. `used`: another change has it.
 */
export type Claimed = 'inserted' | 'free' | 'used';

export interface ShareOptions extends Partial<TransactionCause> {
  claim?: Claim;
}

/** A change. May run more than once; only what its last run wrote is committed. */
type Body<Result> = (tx: Transaction, claim: () => Promise<Claimed>) => Promise<Result>;

/** Runs a change in a transaction, its own or a shared one. */
export type Transact = <Result>(body: Body<Result>, options?: ShareOptions) => Promise<Result>;

type BeforeCommit = Parameters<Transaction['beforeCommit']>[0];

interface Member {
  body: Body<unknown>;
  options: ShareOptions;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

// As many rows as the largest merged insert has. More would not be faster, and whoever came first would wait longer.
const membersMax = 32;

// Some eight batches: about a second of a busy merchant's requests. This bounds the memory.
const waitingMax = 8 * membersMax;

// A batch does not wait long for a row that another process has locked: who needs it waits alone, and the others go on.
const lockTimeout: Statement = {
  name: 'shared_commits_lock_timeout',
  text: `SELECT set_config('lock_timeout', '100ms', true)`,
  values: [],
};

/**
 * Transactions that share their commits. The changes of one key that arrive while a transaction of that key is under way run in
 * the next one, one after the other, and their inserts are sent as statements of many rows: one commit answers them all. A change
 * that comes alone runs at once, in a transaction of its own.
 *
 * A change that is refused leaves the others alone. When a statement fails, everything is rolled back and done again in halves,
 * down to the change that failed; when another process has locked a row, each goes on alone. When the database is away, all fail, because a commit whose answer was lost may have happened.
 */
export class SharedCommits implements LimiterFigures {
  readonly name = 'commits';
  readonly #db: Database;
  readonly #aloneMax: number;
  /** By key, while a transaction of it runs. */
  readonly #waiting = new Map<string, Member[]>();
  #waitingCount = 0;
  #refusedCount = 0;
  #splitCount = 0;

  /** `aloneMax`: how many connections one key's changes may use when each has to go on alone. */
  constructor(db: Database, { aloneMax }: { aloneMax: number }) {
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
    if (waiting === undefined) void this.#start(key, member);
    else if (waiting.length >= waitingMax) {
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

  async #start(key: string, first: Member): Promise<void> {
    const waiting: Member[] = [];
    this.#waiting.set(key, waiting);
    for (let batch = [first]; batch.length > 0; batch = this.#takeBatch(waiting)) await this.#commit(batch);
    this.#waiting.delete(key);
  }

  /** A second change with the same claim waits for the first to be committed. */
  #takeBatch(waiting: Member[]): Member[] {
    const claims = new Set<string>();
    const batch: Member[] = [];
    for (const member of waiting) {
      const claim = member.options.claim?.rowKey;
      if (batch.length === membersMax) break;
      if (claim !== undefined && claims.has(claim)) continue;
      if (claim !== undefined) claims.add(claim);
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
      for (const settle of outcomes) settle();
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

/** Returns what tells each change's caller its outcome, once the transaction is committed. */
async function runTogether(tx: Transaction, batch: readonly Member[]): Promise<(() => void)[]> {
  tx.send(lockTimeout);
  const claims = await findClaims(tx, batch);
  const writes = new MergedWrites();
  const outcomes: (() => void)[] = [];
  const lastActions: BeforeCommit[] = [];
  for (const [index, member] of batch.entries()) {
    const claim = () => Promise.resolve(claims[index] ?? 'free');
    outcomes.push(await runMember(tx, member, { writes, claim, lastActions }));
  }
  const last = new MemberTransaction(tx, { writes, lastActions, requestId: null });
  for (const action of lastActions) await action(last);
  last.end();
  sendAll(tx, writes);
  return outcomes;
}

/** All are asked for at once. Their rows are inserted with everything else, as rows of one statement. */
function findClaims(tx: Transaction, batch: readonly Member[]): Promise<Claimed[]> {
  return Promise.all(
    batch.map(async ({ options: { claim } }) => (claim && (await tx.run(claim.find)) > 0 ? 'used' : 'free')),
  );
}

async function runMember(
  tx: Transaction,
  { body, options, resolve, reject }: Member,
  { writes, claim, lastActions }: { writes: MergedWrites; claim: () => Promise<Claimed>; lastActions: BeforeCommit[] },
): Promise<() => void> {
  const part = new MemberTransaction(tx, { writes, lastActions, requestId: options.requestId ?? null });
  try {
    const result = await body(part, claim);
    part.end();
    return () => resolve(result);
  } catch (error) {
    if (!part.isUnwritten) throw error;
    return () => reject(error);
  }
}

function sendAll(tx: Transaction, writes: MergedWrites): void {
  for (const statement of writes.take()) tx.send(statement);
}

/** One change's part of a shared transaction. Its writes are held until it has ended, or reads. */
class MemberTransaction implements Transaction {
  readonly requestId: string | null;
  readonly #tx: Transaction;
  readonly #writes: MergedWrites;
  #held: Statement[] = [];
  /** Those of the whole batch; its own are added when it ends. */
  readonly #lastActions: BeforeCommit[];
  readonly #beforeCommit: BeforeCommit[] = [];
  readonly #afterCommit: (() => void)[] = [];
  /** Whether nothing of it was sent, so that it can be left out. */
  isUnwritten = true;

  constructor(tx: Transaction, parts: { writes: MergedWrites; lastActions: BeforeCommit[]; requestId: string | null }) {
    this.#tx = tx;
    this.#writes = parts.writes;
    this.#lastActions = parts.lastActions;
    this.requestId = parts.requestId;
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#sent(statement, () => this.#tx.rows<Row>(statement));
  }

  row<Row>(statement: Statement): Promise<Row | undefined> {
    return this.#sent(statement, () => this.#tx.row<Row>(statement));
  }

  run(statement: Statement): Promise<number> {
    return this.#sent(statement, () => this.#tx.run(statement));
  }

  send(statement: Statement): void {
    this.#held.push(statement);
  }

  beforeCommit(action: BeforeCommit): void {
    this.#beforeCommit.push(action);
  }

  afterCommit(action: () => void): void {
    this.#afterCommit.push(action);
  }

  /** The change succeeded: what it wrote belongs to the batch. */
  end(): void {
    this.#writes.add(this.#held);
    this.#lastActions.push(...this.#beforeCommit);
    for (const action of this.#afterCommit) this.#tx.afterCommit(action);
  }

  /** A statement with a result sees everything before it. */
  async #sent<Result>(statement: Statement, query: () => Promise<Result>): Promise<Result> {
    if (this.#held.length > 0 || !isPlainRead(statement)) this.isUnwritten = false;
    sendAll(this.#tx, this.#writes);
    this.#writes.add(this.#held);
    this.#held = [];
    sendAll(this.#tx, this.#writes);
    try {
      return await query();
    } catch (error) {
      // The transaction has failed with it.
      this.isUnwritten = false;
      throw error;
    }
  }
}

/** A SELECT, whose locks do no harm when the change is refused; not one with a changing statement in it. */
function isPlainRead({ text }: Statement): boolean {
  return /^(\s|--.*\n)*SELECT\b/.test(text);
}
