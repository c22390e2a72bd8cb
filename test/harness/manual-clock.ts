import type { Clock } from '../../server/src/kit/clock.ts';

interface Sleeper {
  wakesAtMs: number;
  wake: () => void;
}

/** A clock that stands still until the test moves it; whoever sleeps wakes when the test has come that far. */
export class ManualClock implements Clock {
  #nowMs: number;
  readonly #sleepers = new Set<Sleeper>();
  #watchers: (() => void)[] = [];

  constructor(start: Date = new Date('2026-11-20T12:00:00.000Z')) {
    this.#nowMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#nowMs);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const sleeper: Sleeper = { wakesAtMs: this.#nowMs + ms, wake };
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', wake);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watch of watchers) watch();
    return promise;
  }

  /** How many wait for the time to pass. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /**
   * Resolves once at least `count` wait. Without it a test that moves the time may come before the code that is
   * about to sleep.
   */
  async untilSleeping(count: number): Promise<void> {
    while (this.#sleepers.size < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  /**
   * Moves the time and wakes those whose moment has come, in order, each at its own moment. After each one the event
   * loop turns, so that whoever woke can act, and sleep again within the time that is left.
   */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#nextSleeper();
      if (next === undefined || next.wakesAtMs > targetMs) break;
      this.#nowMs = next.wakesAtMs;
      next.wake();
      await turnOfTheEventLoop();
    }
    this.#nowMs = targetMs;
    await turnOfTheEventLoop();
  }

  /**
   * Moves the time at once, as for a machine that was asleep: those whose moment has come wake afterwards, in order and
   * all at the new time. Whoever they call has a whole timeout to answer, however far the time has moved.
   */
  async jump(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (;;) {
      const next = this.#nextSleeper();
      if (next === undefined || next.wakesAtMs > this.#nowMs) break;
      next.wake();
      await turnOfTheEventLoop();
    }
    await turnOfTheEventLoop();
  }

  /** The earliest; of several at one moment the one that has waited longest, because a set keeps its order. */
  #nextSleeper(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (next === undefined || sleeper.wakesAtMs < next.wakesAtMs) next = sleeper;
    }
    return next;
  }
}

function turnOfTheEventLoop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
