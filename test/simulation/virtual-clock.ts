import type { Clock } from '../../server/src/kit/clock.ts';
import { currentInstance, type Instance } from './instance.ts';

interface Timer {
  dueAtMs: number;
  number: number;
  owner: Instance | undefined;
  resume: () => void;
}

/**
 * The time of a simulation. Sleeps follow the time that has passed; what an instance reads is that time and the error of its
 * machine's clock, which may jump.
 */
export class VirtualClock {
  #passedMs: number;
  #timersCount = 0;
  #timers: Timer[] = [];

  constructor(start: Date) {
    this.#passedMs = start.getTime();
  }

  /** The clock of one machine; the networks' own has no error. */
  ofMachine(machine?: { clockErrorMs: number }): Clock {
    return {
      now: () => new Date(this.#passedMs + (machine?.clockErrorMs ?? 0)),
      sleep: (ms, signal) => this.#sleep(ms, signal),
    };
  }

  get passedMs(): number {
    return this.#passedMs;
  }

  /** How long until the next sleeper resumes; undefined when nobody sleeps. */
  msToNext(): number | undefined {
    const [first] = this.#timers;
    return first && Math.max(0, first.dueAtMs - this.#passedMs);
  }

  /** Moves the time and resumes whose time has come, in the order of their times. */
  advance(ms: number): void {
    this.#passedMs += ms;
    const due = this.#timers.filter(({ dueAtMs }) => dueAtMs <= this.#passedMs);
    for (const { resume } of due) resume();
  }

  /** The sleeps of an instance that has crashed never end. */
  forget(owner: Instance): void {
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const resume = (): void => {
      this.#timers = this.#timers.filter((one) => one !== timer);
      signal?.removeEventListener('abort', resume);
      resolve();
    };
    this.#timersCount += 1;
    const timer: Timer = { dueAtMs: this.#passedMs + ms, number: this.#timersCount, owner: currentInstance(), resume };
    const after = this.#timers.findIndex((one) => one.dueAtMs > timer.dueAtMs);
    this.#timers.splice(after < 0 ? this.#timers.length : after, 0, timer);
    signal?.addEventListener('abort', resume);
    return promise;
  }
}
