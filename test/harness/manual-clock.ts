import type { Clock } from '../../server/src/kit/clock.ts';

interface Sleeper {
  dueAtMs: number;
  resume: () => void;
}

/** A clock that stops until the test moves it; a sleeper resumes when the clock reaches its time. */
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
    const resume = (): void => {
      this.#sleepers.delete(sleeper);
      signal?.removeEventListener('abort', resume);
      resolve();
    };
    const sleeper: Sleeper = { dueAtMs: this.#nowMs + ms, resume };
    this.#sleepers.add(sleeper);
    signal?.addEventListener('abort', resume);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watch of watchers) watch();
    return promise;
  }

  /** The number of sleepers. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /**
   * Resolves once there are at least `count` sleepers. Without it, a test may move the clock before the code under test
   * sleeps.
   */
  async untilSleeping(count: number): Promise<void> {
    while (this.#sleepers.size < count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watchers.push(resolve);
      await promise;
    }
  }

  /**
   * Moves the clock and resumes the sleepers that are due, in order, each at its own time. After each one a tick of the
   * event loop passes, in which it can act, and sleep again within the time that is left.
   */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#nextSleeper();
      if (next === undefined || next.dueAtMs > targetMs) break;
      this.#nowMs = next.dueAtMs;
      next.resume();
      await eventLoopTick();
    }
    this.#nowMs = targetMs;
    await eventLoopTick();
  }

  /**
   * Moves the clock at once, as after a machine's sleep: the sleepers that are due then resume in order, all at the new
   * time. What they call has a whole timeout to respond, however far the clock moved.
   */
  async jump(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (;;) {
      const next = this.#nextSleeper();
      if (next === undefined || next.dueAtMs > this.#nowMs) break;
      next.resume();
      await eventLoopTick();
    }
    await eventLoopTick();
  }

  /** The earliest; of several at one time the first to sleep, because a set keeps its order. */
  #nextSleeper(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (next === undefined || sleeper.dueAtMs < next.dueAtMs) next = sleeper;
    }
    return next;
  }
}

function eventLoopTick(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
