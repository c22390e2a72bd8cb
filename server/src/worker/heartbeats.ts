import type { Clock } from '../kit/clock.ts';

/** When a queue was last worked without an error. */
export interface Heartbeat {
  queue: string;
  at: Date;
  intervalMs: number;
}

/** When each queue of this process was last polled, and its chores done, without an error. A silent one is a failure. */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #beats = new Map<string, Heartbeat>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts from now on: one that never works is noticed too. */
  expect(queue: { name: string; pollIntervalMs: number }): void {
    this.#beats.set(queue.name, { queue: queue.name, at: this.#clock.now(), intervalMs: queue.pollIntervalMs });
  }

  beat(name: string): void {
    const known = this.#beats.get(name);
    if (known) this.#beats.set(name, { ...known, at: this.#clock.now() });
  }

  list(): Heartbeat[] {
    return [...this.#beats.values()];
  }
}
