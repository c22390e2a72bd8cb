import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';
import type { AllowanceResult } from './shared-allowance.ts';

export interface LocalAllowanceSettings {
  /** How many are replenished a second, above 0. */
  rate: number;
  /** How many may be taken at once, 1 at least. */
  burst: number;
}

// An entry takes 200 bytes. Beyond this many addresses at once a limit for each of them protects nothing.
const keysMax = 10_000;

/**
 * Rate limits of this process alone, by the generic cell rate algorithm: for checks that must not cost a database query. Each
 * request takes before it is served, so that concurrent requests cannot exceed the rate; what should not have counted is
 * restored.
 */
export class LocalAllowances {
  readonly #clock: Clock;
  readonly #costMs: number;
  readonly #burstMs: number;
  /** The theoretical arrival time of each key, in milliseconds; the key used last comes last. */
  readonly #arrivals = new BoundedMap<string, number>(keysMax);

  constructor(clock: Clock, { rate, burst }: LocalAllowanceSettings) {
    this.#clock = clock;
    this.#costMs = 1_000 / rate;
    this.#burstMs = burst * this.#costMs;
  }

  /** Takes one of this key's allowance. */
  take(key: string): AllowanceResult {
    const nowMs = this.#clock.now().getTime();
    const arrivalMs = this.#arrivalOf(key, nowMs);
    const freeMs = this.#burstMs - (arrivalMs - nowMs);
    // Sums of fractions are off by up to a millionth of a millisecond.
    const left = Math.floor(freeMs / this.#costMs + 1e-9);
    if (left < 1) return { retryAfterSeconds: Math.max(1, Math.ceil((this.#costMs - freeMs) / 1_000)) };
    this.#arrivals.delete(key);
    this.#arrivals.set(key, arrivalMs + this.#costMs);
    return { left: left - 1 };
  }

  /** Undoes one `take`. */
  restore(key: string): void {
    const nowMs = this.#clock.now().getTime();
    const arrivalMs = this.#arrivalOf(key, nowMs) - this.#costMs;
    if (arrivalMs > nowMs) this.#arrivals.set(key, arrivalMs);
    else this.#arrivals.delete(key);
  }

  /** Not before now; now for one that was written before the clock was set back. */
  #arrivalOf(key: string, nowMs: number): number {
    const arrivalMs = this.#arrivals.get(key) ?? nowMs;
    return arrivalMs > nowMs + this.#burstMs ? nowMs : Math.max(arrivalMs, nowMs);
  }
}
