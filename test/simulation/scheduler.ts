import { createHash } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Choices } from './choices.ts';
import { currentInstance, type Instance } from './instance.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { End, Ends } from './under-way.ts';

interface Step {
  label: string;
  owner: Instance | undefined;
  resume: () => void;
  /** Of a statement that waited for a lock: its number. */
  unlocked?: number;
}

/** A transaction, or a statement outside of one: what it sends waits for each other. */
export interface Connection {
  lockTimeoutMs: number;
  /** The statement that waits for a lock is about to be cancelled: it fails with this SQLSTATE. */
  failWith(code: string): void;
}

export interface Statement {
  number: number;
  label: string;
  owner: Instance | undefined;
  /** Past the service there is none. */
  connection: Connection | undefined;
  isBlocked: boolean;
  /** Whether it has ever waited for a lock. */
  hasWaited: boolean;
  /** It was cancelled, and waits for its lock until PostgreSQL has noticed. */
  isEnding: boolean;
}

// A step's code runs in microtasks, ticks and immediates (Fastify's streams): it has ended when none of these rounds of the event
// loop brought anything new.
const quietRounds = 3;
// A statement that runs for longer is looked up among those that wait for a lock, and again after twice as long. A look-up costs
// PostgreSQL as much as five statements.
const lockCheckAfterMs = 10;

/**
 * Decides, by the seed, which waiting step goes on next. One step runs at a time: the next is chosen when the code that it
 * resumed waits again, and no statement runs but those that wait for a lock.
 */
export class Scheduler {
  /** What happened, in order; a seed repeats it. */
  readonly history: string[] = [];
  readonly #choices: Choices;
  readonly #locks: Pick<SharedDatabase, 'listLockWaits'>;
  #ready: Step[] = [];
  readonly #statements = new Set<Statement>();
  #statementsCount = 0;
  #changes = 0;
  #completed = Promise.withResolvers<void>();
  /** Since the statements under way were last found waiting for locks: whether a transaction has ended, which frees its locks. */
  #mayBeUnlocked = true;
  /** Until the run begins, and after it, nothing waits for the scheduler. */
  isOn = false;

  /** Called when a statement begins to wait for a lock. */
  onLockWait: (statement: Statement) => void = () => {};

  constructor(choices: Choices, locks: Pick<SharedDatabase, 'listLockWaits'>) {
    this.#choices = choices;
    this.#locks = locks;
  }

  get stepsCount(): number {
    return this.history.length;
  }

  note(text: string): void {
    if (this.isOn) this.history.push(text);
  }

  hashOfHistory(): string {
    const digest = createHash('sha256');
    for (const line of this.history) digest.update(line).update('\n');
    return digest.digest('hex').slice(0, 16);
  }

  /** Waits until the scheduler chooses this step. */
  waitForStep(label: string): Promise<void> {
    return this.#wait({ label });
  }

  #wait(step: Pick<Step, 'label' | 'unlocked'>): Promise<void> {
    if (!this.isOn) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready.push({ ...step, owner: currentInstance(), resume: resolve });
    this.#changes += 1;
    return promise;
  }

  /**
   * Tells that a statement has been sent. The scheduler waits until the function that it returns is called; this resolves at
   * once, or when it is the turn of a statement that waited for a lock: PostgreSQL ends it while other code runs. One that fails ends
   * its transaction.
   */
  beginStatement(label: string, connection?: Connection, ends: Ends = 'transaction'): End {
    this.#statementsCount += 1;
    const number = this.#statementsCount;
    const parts = { owner: currentInstance(), connection, isBlocked: false, hasWaited: false, isEnding: false };
    const statement: Statement = { number, label, ...parts };
    this.#statements.add(statement);
    return async (hasFailed = false) => {
      if (!this.#statements.delete(statement)) return;
      if (ends === 'transaction' || hasFailed) this.locksMayBeFree();
      this.#changes += 1;
      this.#completed.resolve();
      this.#completed = Promise.withResolvers();
      if (statement.hasWaited) await this.#wait({ label: `goes on after ${label}`, unlocked: number });
    };
  }

  /** Those that wait for a lock have to be looked up again. */
  locksMayBeFree(): void {
    this.#mayBeUnlocked = true;
  }

  /** An instance that has crashed takes no more steps. */
  forget(owner: Instance): void {
    this.locksMayBeFree();
    this.#ready = this.#ready.filter((step) => step.owner !== owner);
    for (const statement of this.#statements) if (statement.owner === owner) this.#statements.delete(statement);
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Of each connection with statements under way, the one that PostgreSQL is working on; in the order in which they began. */
  currentStatements(): Statement[] {
    const statements = [...this.#statements];
    return statements.filter(
      ({ connection }, index) =>
        connection === undefined || statements.findIndex((one) => one.connection === connection) === index,
    );
  }

  /** Waits for the end of this statement, which is cancelled while it waits for a lock. */
  expectEnd(statement: Statement): void {
    statement.isBlocked = false;
    statement.isEnding = true;
  }

  get blockedStatements(): string[] {
    return [...this.#statements].map(({ label, owner }) => `${owner?.name ?? 'nobody'} ${label}`);
  }

  /** Lets one ready step go on, and waits until everything waits again. */
  async step(): Promise<void> {
    const step = this.#ready[this.#choices.below(this.#ready.length)];
    if (step) await this.#resume(step);
  }

  /** Lets a ready step of this instance go on, if it has one. */
  async stepOf(owner: Instance): Promise<void> {
    const own = this.#ready.filter((step) => step.owner === owner);
    const step = own[this.#choices.below(Math.max(1, own.length))];
    if (step) await this.#resume(step);
  }

  async #resume(step: Step): Promise<void> {
    this.#ready = this.#ready.filter((one) => one !== step);
    this.note(`${step.owner?.name ?? 'outside'} ${step.label}`);
    step.resume();
    await this.settle();
  }

  /** Resolves when all code waits: for a step, a time, or a lock. */
  async settle(): Promise<void> {
    let [changes, waitMs] = [this.#changes, lockCheckAfterMs];
    for (;;) {
      await this.#quiet();
      waitMs = this.#changes === changes ? waitMs * 2 : lockCheckAfterMs;
      changes = this.#changes;
      if (this.#statements.size === 0 || (await this.#areAllBlocked(waitMs))) return this.#sortReady();
    }
  }

  async #quiet(): Promise<void> {
    for (let quiet = 0; quiet < quietRounds; quiet += 1) {
      const before = this.#changes;
      await nextRound();
      if (this.#changes !== before) quiet = -1;
    }
  }

  /** In an order that does not depend on when PostgreSQL woke whom. */
  #sortReady(): void {
    const isUnlocked = ({ unlocked }: Step): boolean => unlocked !== undefined;
    const unlocked = this.#ready
      .filter(isUnlocked)
      .toSorted((one, other) => (one.unlocked ?? 0) - (other.unlocked ?? 0));
    this.#ready = [...this.#ready.filter((step) => !isUnlocked(step)), ...unlocked];
  }

  /** Waits for a statement to end, unless all of them wait for locks, which only the end of a transaction frees. */
  async #areAllBlocked(waitMs: number): Promise<boolean> {
    const { size } = this.#statements;
    const changes = this.#changes;
    if ([...this.#statements].some(({ isBlocked }) => !isBlocked)) {
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([this.#completed.promise, isLate]);
      clearTimeout(timer);
      if (this.#changes !== changes || [...this.#statements].some(({ isEnding }) => isEnding)) return false;
    } else if (!this.#mayBeUnlocked) return true;
    this.#mayBeUnlocked = false;
    const waiting = (await this.#locks.listLockWaits()).length;
    // A statement that got its lock meanwhile is awaited.
    const hasChanged = this.#statements.size !== size || this.#changes !== changes;
    const areBlocked = waiting >= this.currentStatements().length && !hasChanged;
    for (const statement of this.#statements) {
      statement.isBlocked = areBlocked;
      if (!areBlocked || statement.hasWaited) continue;
      statement.hasWaited = true;
      this.note(`  ${statement.label} waits for a lock`);
      this.onLockWait(statement);
    }
    return areBlocked;
  }
}
