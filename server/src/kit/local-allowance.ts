import type { Clock } from './clock.ts';
import type { Taken } from './shared-allowance.ts';

export interface LocalAllowanceSettings {
  /** How many a second come back, above 0. */
  rate: number;
  /** How many may be taken at once, 1 at least. */
  burst: number;
}

// What is charged beyond the allowance is waited for, but for no longer than this: requests that were under way side by
// side when the allowance ran out must not lock an address out for an hour.
const debtMaxMs = 60_000;
// An entry is 200 bytes. Beyond this many addresses at once a limit for each of them protects nothing.
const keysMax = 10_000;

/**
 * Allowances that this process keeps for itself, by the generic cell rate algorithm: for what has to cost nothing, not even a
 * question to the database. Whoever is let through is charged afterwards, and only if it failed, so what succeeds is
 * never counted; since a charge is taken in any case, requests side by side do not raise the rate.
 */
export class LocalAllowances {
  readonly #clock: Clock;
  readonly #costMs: number;
  readonly #burstMs: number;
  /** The theoretical arrival time of each key, in milliseconds; the key that was charged last stands last. */
  readonly #arrivals = new Map<string, number>();

  constructor(clock: Clock, { rate, burst }: LocalAllowanceSettings) {
    this.#clock = clock;
    this.#costMs = 1_000 / rate;
    this.#burstMs = burst * this.#costMs;
  }

  /** What is left for this key, or how long until there is one again. Takes nothing. */
  look(key: string): Taken {
    const nowMs = this.#clock.now().getTime();
    const freeMs = this.#burstMs - (this.#arrivalOf(key, nowMs) - nowMs);
    // A millionth of a millisecond is what the sums of fractions are off by.
    const left = Math.floor(freeMs / this.#costMs + 1e-9);
    if (left >= 1) return { left };
    return { retryAfterSeconds: Math.max(1, Math.ceil((this.#costMs - freeMs) / 1_000)) };
  }

  /** Takes one, also where none is left. */
  charge(key: string): void {
    const nowMs = this.#clock.now().getTime();
    const arrivalMs = Math.min(this.#arrivalOf(key, nowMs) + this.#costMs, nowMs + this.#burstMs + debtMaxMs);
    this.#arrivals.delete(key);
    if (this.#arrivals.size >= keysMax) this.#forgetOldest();
    this.#arrivals.set(key, arrivalMs);
  }

  /** Not before now, and now for one that was written by a clock that has been set back since. */
  #arrivalOf(key: string, nowMs: number): number {
    const arrivalMs = this.#arrivals.get(key) ?? nowMs;
    return arrivalMs > nowMs + this.#burstMs + debtMaxMs ? nowMs : Math.max(arrivalMs, nowMs);
  }

  #forgetOldest(): void {
    const [oldest] = this.#arrivals.keys();
    if (oldest !== undefined) this.#arrivals.delete(oldest);
  }
}
