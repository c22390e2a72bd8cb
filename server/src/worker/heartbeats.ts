import type { Clock } from '../kit/clock.ts';

export interface Heartbeat {
  queue: string;
  /** For how long its next poll or run has been due, or its runs have failed; 0 while all is well. */
  silentMs: number;
  intervalMs: number;
}

interface Expected {
  intervalMs: number;
  dueAtMs: number;
  /** Since when its runs have failed; null: the last one did not. */
  failedAtMs: number | null;
}

/** Whether each queue of this process is polled when it is due, and each chore done without an error. A silent one is a failure. */
export class Heartbeats {
  readonly #clock: Clock;
  readonly #expected = new Map<string, Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on, or from `firstAfterMs` later: one that never works is noticed too. */
  expect({ name, pollIntervalMs: intervalMs }: { name: string; pollIntervalMs: number }, firstAfterMs: number): void {
    this.#expected.set(name, { intervalMs, dueAtMs: this.#nowMs + firstAfterMs, failedAtMs: null });
  }

  /** A run has begun. It may take until the next one is due, and as long again: it is overdue once it has missed a poll. */
  begin(name: string): void {
    this.#change(name, ({ intervalMs }) => ({ dueAtMs: this.#nowMs + 2 * intervalMs }));
  }

  beat(name: string): void {
    this.#change(name, ({ intervalMs }) => ({ dueAtMs: this.#nowMs + intervalMs, failedAtMs: null }));
  }

  fail(name: string): void {
    this.#change(name, ({ failedAtMs }) => ({ failedAtMs: failedAtMs ?? this.#nowMs }));
  }

  list(): Heartbeat[] {
    return [...this.#expected].map(([queue, { intervalMs, dueAtMs, failedAtMs }]) => ({
      queue,
      silentMs: Math.max(0, this.#nowMs - (failedAtMs ?? dueAtMs)),
      intervalMs,
    }));
  }

  #change(name: string, change: (expected: Expected) => Partial<Expected>): void {
    const known = this.#expected.get(name);
    if (known) this.#expected.set(name, { ...known, ...change(known) });
  }

  get #nowMs(): number {
    return this.#clock.now().getTime();
  }
}
