import { assert } from './assert.ts';
import type { Statement, Transaction, TransactionCause } from './db.ts';
import { MergedWrites } from './merged-writes.ts';
import { rowsOfEach, sharedPart } from './many-rows.ts';

/** A row that a change must be the first to write, such as an idempotency key. */
export interface Claim {
  /** Two changes with the same row never share a transaction. */
  rowKey: string;
  /** Inserts the row if it is new; waits for another transaction that is inserting it. */
  insert: Statement;
  /** For many rows, so that those of several changes are found by one statement. */
  find: Statement;
}

/**
 * What became of a claim. `inserted`: the row is there, and the change may complete it. `free`: the row is not there, and the change
 * must insert it itself, which fails if another process has done so since. `used`: another change has it.
 */
export type Claimed = 'inserted' | 'free' | 'used';

export interface ShareOptions extends Partial<TransactionCause> {
  claim?: Claim;
  /**
   * The row that the change locks before it does anything else. Changes of one row never share a transaction; those of
   * different rows run at once (shared-transaction.ts).
   */
  row?: string;
}

/** A change. May run more than once; only what its last run wrote is committed. */
export type Body<Result> = (tx: Transaction, claim: () => Promise<Claimed>) => Promise<Result>;

/** A change that shares a transaction. */
export interface Member {
  body: Body<unknown>;
  options: ShareOptions;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

type BeforeCommit = Parameters<Transaction['beforeCommit']>[0];

/** Tells a change's caller its outcome, once the transaction is committed; or the change is to run again, alone. */
type Outcome = (() => void) | 'alone';

// A batch does not wait long for a row that another process has locked: who needs it waits alone, and the others go on. Its
// statements find rows by their keys, so a plan for the values at hand is no better than the one for any; planning lists of rows for
// each of them took a tenth of the database's time.
const settings: Statement = {
  name: 'shared_commits_settings',
  text: `SELECT set_config('lock_timeout', '100ms', true), set_config('plan_cache_mode', 'force_generic_plan', true)`,
  values: [],
};

/** Runs changes in one transaction: at once where each names its row, else one after the other. */
export async function runTogether(tx: Transaction, batch: readonly Member[]): Promise<Outcome[]> {
  tx.send(settings);
  const shared = new SharedTransaction(tx);
  const outcomes = batch.every(({ options }) => options.row !== undefined)
    ? await runAtOnce(shared, batch)
    : await runInOrder(shared, await findClaims(tx, batch), batch);
  await shared.end();
  return outcomes;
}

/** All are requested for at once. Their rows are inserted with everything else, as rows of one statement. */
async function findClaims(tx: Transaction, batch: readonly Member[]): Promise<Claimed[]> {
  const finds = batch.flatMap(({ options: { claim } }) => (claim ? [claim.find] : []));
  const used = new Set<Statement>();
  const find = async (statements: readonly Statement[]): Promise<void> => {
    const rows = await rowsOfEach(tx, statements);
    for (const [index, statement] of statements.entries()) if (rows[index]?.length !== 0) used.add(statement);
  };
  await Promise.all([...Map.groupBy(finds, sharedPart).values()].map(find));
  return batch.map(({ options: { claim } }) => (claim && used.has(claim.find) ? 'used' : 'free'));
}

async function runInOrder(
  shared: SharedTransaction,
  claims: readonly Claimed[],
  batch: readonly Member[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, member] of batch.entries()) {
    outcomes.push(await runMember(shared, member, () => Promise.resolve(claims[index] ?? 'free')));
  }
  return outcomes;
}

async function runAtOnce(shared: SharedTransaction, batch: readonly Member[]): Promise<Outcome[]> {
  const rounds = new Rounds(shared, batch.length);
  shared.rounds = rounds;
  const run = async (member: Member): Promise<Outcome> => {
    try {
      return await runMember(shared, member, () => Promise.resolve('free'));
    } catch (error) {
      rounds.fail(error);
      throw error;
    } finally {
      rounds.ended();
    }
  };
  // All end before the transaction does, also when one has failed.
  const results = await Promise.allSettled(batch.map(run));
  shared.rounds = null;
  if (rounds.failure) throw rounds.failure.error;
  return results.map((result) => (result.status === 'fulfilled' ? result.value : 'alone'));
}

async function runMember(
  shared: SharedTransaction,
  { body, options, resolve, reject }: Member,
  claim: () => Promise<Claimed>,
): Promise<Outcome> {
  const part = new MemberTransaction(shared, options.requestId ?? null);
  try {
    const result = await body(part, claim);
    part.end();
    return () => resolve(result);
  } catch (error) {
    if (!part.isUnwritten) throw error;
    return error instanceof RowHeldError || part.memory?.isUsed === true ? 'alone' : () => reject(error);
  }
}

/** Another transaction has locked the row. */
class RowHeldError extends Error {}

/**
 * What a change knows from those before it, and learns itself. One that is refused after it has used what others left is done again,
 * alone: what was written since they read may let it succeed, and others may have seen that before these are committed.
 */
class MemberMemory extends Map<string, bigint> {
  readonly #inherited: ReadonlyMap<string, bigint>;
  isUsed = false;

  constructor(inherited: ReadonlyMap<string, bigint>) {
    super();
    this.#inherited = inherited;
    for (const [name, value] of inherited) super.set(name, value);
  }

  override get(name: string): bigint | undefined {
    const value = super.get(name);
    if (value !== undefined && this.#inherited.has(name)) this.isUsed = true;
    return value;
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }
}

/** A transaction that changes share. What they write is held until one of them reads, and merged. */
class SharedTransaction {
  readonly tx: Transaction;
  readonly #writes = new MergedWrites();
  readonly #lastActions: BeforeCommit[] = [];
  /** Of the changes that have ended. */
  memory: ReadonlyMap<string, bigint> = new Map<string, bigint>();
  /** While changes run at once. */
  rounds: Rounds | null = null;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  hold(writes: readonly Statement[]): void {
    this.#writes.add(writes);
  }

  runLast(actions: readonly BeforeCommit[]): void {
    this.#lastActions.push(...actions);
  }

  /** Everything that was held goes out. */
  sendHeld(): void {
    for (const statement of this.#writes.take()) this.tx.send(statement);
  }

  async end(): Promise<void> {
    const last = new MemberTransaction(this, null);
    for (const action of this.#lastActions) await action(last);
    last.end();
    this.sendHeld();
  }
}

interface Requested {
  part: MemberTransaction;
  statement: Statement;
  alone: () => Promise<unknown[]>;
  resolve: (rows: unknown[] | 'exclusive') => void;
  reject: (error: unknown) => void;
}

/**
 * Changes of different rows that run at once. What they ask for many rows in one turn of the event loop is sent together. Any
 * other statement may be about a row that several of them change: whoever needs one goes on once all others have ended or need
 * one too, and then to its end, so that these run one after the other.
 */
class Rounds {
  readonly #shared: SharedTransaction;
  #running: number;
  readonly #exclusive: PromiseWithResolvers<void>[] = [];
  #requested: Requested[] = [];
  failure: { error: unknown } | null = null;

  constructor(shared: SharedTransaction, running: number) {
    this.#shared = shared;
    this.#running = running;
  }

  /** Resolves with the statement's rows, or that the change has to send it alone. */
  request(
    requested: Pick<Requested, 'part' | 'statement' | 'alone'>,
    held: readonly Statement[],
  ): Promise<unknown[] | 'exclusive'> {
    if (this.failure) throw this.failure.error;
    const isFirst = held.length === 0 || !this.#requested.some(({ part }) => part === requested.part);
    assert(isFirst, 'a change does not write between two statements that it sends at once');
    this.#shared.hold(held);
    const { promise, resolve, reject } = Promise.withResolvers<unknown[] | 'exclusive'>();
    if (this.#requested.length === 0) process.nextTick(() => this.#send());
    this.#requested.push({ ...requested, resolve, reject });
    return promise;
  }

  /** Resolves when no other change runs. */
  async awaitExclusive(): Promise<void> {
    if (this.failure) throw this.failure.error;
    const slot = Promise.withResolvers<void>();
    this.#exclusive.push(slot);
    this.ended();
    await slot.promise;
  }

  /** A change has ended, or waits until it is alone. */
  ended(): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    const next = this.#exclusive.shift();
    if (!next) return;
    this.#running = 1;
    next.resolve();
  }

  /** The transaction is to be rolled back; nobody goes on. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.#running += this.#exclusive.length;
    for (const slot of this.#exclusive.splice(0)) slot.reject(this.failure.error);
  }

  #send(): void {
    const groups: { key: string; rows: Set<string>; requested: Requested[] }[] = [];
    // Each change's own statements keep their order.
    const positions = new Map<MemberTransaction, number>();
    for (const each of this.#requested.splice(0)) {
      const { part, statement } = each;
      const key = statement.many ? sharedPart(statement) : [statement.name, ...statement.values].join(' ');
      const row = statement.many?.key;
      const from = positions.get(part) ?? 0;
      let position = groups.findIndex(
        (group, index) => index >= from && group.key === key && !(row !== undefined && group.rows.has(row)),
      );
      if (position === -1) position = groups.push({ key, rows: new Set(), requested: [] }) - 1;
      groups[position]?.requested.push(each);
      if (row !== undefined) groups[position]?.rows.add(row);
      positions.set(part, position);
    }
    this.#shared.sendHeld();
    for (const { requested } of groups) void this.#sendAsOne(requested);
  }

  async #sendAsOne(requested: readonly Requested[]): Promise<void> {
    const [first] = requested;
    if (!first) return;
    const { many } = first.statement;
    const isSingle = requested.length === 1 || !many;
    try {
      const statements = requested.map(({ statement }) => statement);
      const rows = isSingle ? [await first.alone()] : await rowsOfEach(this.#shared.tx, statements);
      for (const [index, { resolve, reject }] of requested.entries()) {
        const found = rows[index] ?? [];
        if (!many) resolve(rows[0]?.length === 0 ? [] : 'exclusive');
        else if (found.length === 0 && many.skipsLocked && !isSingle) reject(new RowHeldError());
        else resolve(found);
      }
    } catch (error) {
      for (const { reject } of requested) reject(error);
    }
  }
}

/** One change's part of a shared transaction. Its writes are held until it has ended, or reads. */
class MemberTransaction implements Transaction {
  readonly requestId: string | null;
  /** Becomes that of the next change when this one has ended; one that is refused leaves none. */
  readonly memory: MemberMemory | null;
  readonly #shared: SharedTransaction;
  #held: Statement[] = [];
  readonly #beforeCommit: BeforeCommit[] = [];
  readonly #afterCommit: (() => void)[] = [];
  /** Resolves when no other change runs until it has ended; of several statements that it sends at once, one asks for that. */
  #alone: Promise<void> | null = null;
  #isExclusive = false;
  /** Whether nothing of it was sent, so that it can be left out. */
  isUnwritten = true;

  constructor(shared: SharedTransaction, requestId: string | null) {
    this.#shared = shared;
    this.requestId = requestId;
    this.memory = shared.rounds ? null : new MemberMemory(shared.memory);
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    const query = () => this.#shared.tx.rows<Row>(statement);
    return this.#sent(statement, query, { alone: query, read: (rows) => rows as Row[] });
  }

  row<Row>(statement: Statement): Promise<Row | undefined> {
    const query = () => this.#shared.tx.row<Row>(statement);
    const alone = async () => [await query()].filter((row) => row !== undefined);
    return this.#sent(statement, query, { alone, read: ([row]) => row as Row | undefined });
  }

  run(statement: Statement): Promise<number> {
    const query = () => this.#shared.tx.run(statement);
    const alone = async () => Array<unknown>(await query()).fill(null);
    return this.#sent(statement, query, { alone, read: (rows) => rows.length });
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
    this.#shared.hold(this.#takeHeld());
    if (this.memory) this.#shared.memory = this.memory;
    this.#shared.runLast(this.#beforeCommit);
    for (const action of this.#afterCommit) this.#shared.tx.afterCommit(action);
  }

  #takeHeld(): Statement[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** A statement with a result sees everything that the change wrote before it. */
  async #sent<Result>(
    statement: Statement,
    query: () => Promise<Result>,
    { alone, read }: { alone: () => Promise<unknown[]>; read: (rows: unknown[]) => Result },
  ): Promise<Result> {
    if (this.#held.length > 0 || !isPlainRead(statement)) this.isUnwritten = false;
    const { rounds } = this.#shared;
    try {
      if (rounds && !this.#isExclusive) {
        const isTogether = statement.many !== undefined || statement.emptyForAll === true;
        const rows = isTogether
          ? await rounds.request({ part: this, statement, alone }, this.#takeHeld())
          : 'exclusive';
        if (rows !== 'exclusive') return read(rows);
        this.#alone ??= rounds.awaitExclusive();
        await this.#alone;
        this.#isExclusive = true;
      }
      this.#shared.sendHeld();
      this.#shared.hold(this.#takeHeld());
      this.#shared.sendHeld();
      return await query();
    } catch (error) {
      // The transaction has failed with it.
      if (!(error instanceof RowHeldError)) this.isUnwritten = false;
      throw error;
    }
  }
}

/** A SELECT, whose locks do no harm when the change is refused; not one with a changing statement in it. */
function isPlainRead({ text }: Statement): boolean {
  return /^(\s|--.*\n)*SELECT\b/.test(text);
}
