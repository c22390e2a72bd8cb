import type { Clock } from '../../server/src/kit/clock.ts';
import { asInstance } from './instance.ts';
import type { Scheduler, Statement } from './scheduler.ts';
import type { LockWait, SharedDatabase } from './shared-database.ts';
import type { VirtualClock } from './virtual-clock.ts';

// PostgreSQL's own, as the service expects it (`server/src/kit/db.ts`).
const deadlockTimeoutMs = 1_000;
const [lockTimeoutState, deadlockState] = ['55P03', '40P01'];

export interface LockTimeoutsOptions {
  scheduler: Scheduler;
  clock: VirtualClock;
  shared: SharedDatabase;
}

/**
 * Ends waits for locks at virtual times, in place of PostgreSQL's own timeouts: after a second a statement that is part of a
 * deadlock, and any other one when its transaction's timeout is over.
 */
export class LockTimeouts {
  readonly #scheduler: Scheduler;
  readonly #clock: Clock;
  readonly #shared: SharedDatabase;

  constructor({ scheduler, clock, shared }: LockTimeoutsOptions) {
    this.#scheduler = scheduler;
    this.#clock = clock.ofMachine();
    this.#shared = shared;
    scheduler.onLockWait = (statement) => void asInstance(statement.owner, () => this.#limit(statement));
  }

  async #limit(statement: Statement): Promise<void> {
    const { connection, label } = statement;
    if (!connection) return;
    const { lockTimeoutMs } = connection;
    if (lockTimeoutMs > deadlockTimeoutMs) {
      await this.#clock.sleep(deadlockTimeoutMs);
      await this.#end(statement, { label: `deadlock check of ${label}`, state: deadlockState, isDue: isDeadlock });
    }
    await this.#clock.sleep(Math.max(0, lockTimeoutMs - deadlockTimeoutMs) || lockTimeoutMs);
    await this.#end(statement, { label: `lock timeout of ${label}`, state: lockTimeoutState, isDue: () => true });
  }

  /** Cancels the statement, in a step of its own, if it still waits. */
  async #end(
    statement: Statement,
    {
      label,
      state,
      isDue,
    }: { label: string; state: string; isDue: (pid: number, waits: readonly LockWait[]) => boolean },
  ): Promise<void> {
    if (!this.#isWaiting(statement)) return;
    await this.#scheduler.waitForStep(label);
    if (!this.#isWaiting(statement)) return;
    const current = this.#scheduler.currentStatements();
    const checked = this.#scheduler.beginStatement(label);
    const waits = await this.#shared.listLockWaits();
    // Both are in the order in which they began.
    const wait = waits.length === current.length ? waits[current.indexOf(statement)] : undefined;
    if (wait && isDue(wait.pid, waits)) {
      this.#scheduler.note(`  ${statement.label} is cancelled: ${state}`);
      statement.connection?.failWith(state);
      this.#scheduler.expectEnd(statement);
      await this.#shared.cancelStatement(wait.pid);
    }
    await checked();
  }

  #isWaiting(statement: Statement): boolean {
    return statement.isBlocked && this.#scheduler.currentStatements().includes(statement);
  }
}

/** Whether a process waits, through others, for itself. */
function isDeadlock(pid: number, waits: readonly LockWait[]): boolean {
  const reached = new Set<number>();
  const next = [pid];
  for (let current = next.pop(); current !== undefined; current = next.pop()) {
    for (const blocker of waits.find((wait) => wait.pid === current)?.blockedBy ?? []) {
      if (blocker === pid) return true;
      if (!reached.has(blocker)) next.push(blocker);
      reached.add(blocker);
    }
  }
  return false;
}
