import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';
import type { Taken } from './shared-allowance.ts';

export interface LocalAllowanceSettings {
  /** How many a second come back, above 0. */
  rate: number;
  /** How many may be taken at once, 1 at least. */
  burst: number;
}

// An entry is 200 bytes. Beyond this many addresses at once a limit for each of them protects nothing.
const keysMax = 10_000;

/**
 * Allowances that this process keeps for itself, by the generic cell rate algorithm: for what has to cost nothing, not even a
 * question to the database. Each request takes before it is served, so that requests side by side cannot exceed the
 * rate; what should not have counted is given back.
 */
export class LocalAllowances {
  readonly #clock: Clock;
  readonly #costMs: number;
  readonly #burstMs: number;
  /** The theoretical arrival time of each key, in milliseconds; the key that took last stands last. */
  readonly #arrivals = new BoundedMap<string, number>(keysMax);

  constructor(clock: Clock, { rate, burst }: LocalAllowanceSettings) {
    this.#clock = clock;
    this.#costMs = 1_000 / rate;
    this.#burstMs = burst * this.#costMs;
  }

  /** Takes one for this key: what is left after it, or how long until there is one again. */
  take(key: string): Taken {
    const nowMs = this.#clock.now().getTime();
    const arrivalMs = this.#arrivalOf(key, nowMs);
    const freeMs = this.#burstMs - (arrivalMs - nowMs);
    // A millionth of a millisecond is what the sums of fractions are off by.
    const left = Math.floor(freeMs / this.#costMs + 1e-9);
    if (left < 1) return { retryAfterSeconds: Math.max(1, Math.ceil((this.#costMs - freeMs) / 1_000)) };
    this.#arrivals.delete(key);
    this.#arrivals.set(key, arrivalMs + this.#costMs);
    return { left: left - 1 };
  }

  /** Gives back one that was taken. */
  giveBack(key: string): void {
    const nowMs = this.#clock.now().getTime();
    const arrivalMs = this.#arrivalOf(key, nowMs) - this.#costMs;
    if (arrivalMs > nowMs) this.#arrivals.set(key, arrivalMs);
    else this.#arrivals.delete(key);
  }

  /** Not before now, and now for one that was written by a clock that has been set back since. */
  #arrivalOf(key: string, nowMs: number): number {
    const arrivalMs = this.#arrivals.get(key) ?? nowMs;
    return arrivalMs > nowMs + this.#burstMs ? nowMs : Math.max(arrivalMs, nowMs);
  }
}
