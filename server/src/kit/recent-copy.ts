import type { Clock } from './clock.ts';

// Processes agree on a change within this time. One statement a second answers for any number of questions.
const usualLifetimeMs = 1_000;

/** One process's copy of something that all processes share, at most a second old unless told otherwise. */
export class RecentCopy<Value> {
  readonly #lifetimeMs: number;
  #current: { readAtMs: number; value: Promise<Value> } | null = null;

  constructor(lifetimeMs: number = usualLifetimeMs) {
    this.#lifetimeMs = lifetimeMs;
  }

  /** What was read within the lifetime, or what `load` answers now. A load that failed is not kept. */
  read(clock: Clock, load: () => Promise<Value>): Promise<Value> {
    const nowMs = clock.now().getTime();
    const ageMs = this.#current ? nowMs - this.#current.readAtMs : this.#lifetimeMs;
    // A clock that was set back must not keep a copy for longer.
    if (this.#current && ageMs >= 0 && ageMs < this.#lifetimeMs) return this.#current.value;
    const entry = { readAtMs: nowMs, value: load() };
    this.#current = entry;
    entry.value.catch(() => {
      if (this.#current === entry) this.#current = null;
    });
    return entry.value;
  }

  /** What was read is out of date: whoever asks next reads again. */
  forget(): void {
    this.#current = null;
  }
}
