import type { Clock } from './clock.ts';

// Processes agree on a change within this time. One statement a second answers for any number of questions.
const lifetimeMs = 1_000;

/** One process's copy of something that all processes share, at most a second old. */
export class RecentCopy<Value> {
  #current: { readAtMs: number; value: Promise<Value> } | null = null;

  /** What was read less than a second ago, or what `load` answers now. A load that failed is not kept. */
  read(clock: Clock, load: () => Promise<Value>): Promise<Value> {
    const nowMs = clock.now().getTime();
    const ageMs = this.#current ? nowMs - this.#current.readAtMs : lifetimeMs;
    // A clock that was set back must not keep a copy for longer.
    if (this.#current && ageMs >= 0 && ageMs < lifetimeMs) return this.#current.value;
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
