import type { Clock } from './clock.ts';

// How long a change may take to reach all processes. One query a second serves any number of reads.
const defaultLifetimeMs = 1_000;

/** One process's copy of a value that all processes share, by default at most a second old. */
export class RecentCopy<Value> {
  readonly #lifetimeMs: number;
  #current: { readAtMs: number; value: Promise<Value> } | null = null;

  constructor(lifetimeMs: number = defaultLifetimeMs) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** The value read within the lifetime, or else what `load` returns now. A failed load is not cached. */
  read(clock: Clock, load: () => Promise<Value>): Promise<Value> {
    const nowMs = clock.now().getTime();
    const ageMs = this.#current ? nowMs - this.#current.readAtMs : this.#lifetimeMs;
    // After the clock is set back, a copy must not live longer than its lifetime.
    if (this.#current && ageMs >= 0 && ageMs < this.#lifetimeMs) return this.#current.value;
    const entry = { readAtMs: nowMs, value: load() };
    this.#current = entry;
    entry.value.catch(() => {
      if (this.#current === entry) this.#current = null;
    });
    return entry.value;
  }

  /** The next read loads again. */
  forget(): void {
    this.#current = null;
  }
}
