import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

export interface ExpiringCacheOptions {
  clock: Clock;
  entriesMax: number;
  lifetimeMs: number;
}

/**
 * Caches values for a short time, per process. Only for what may be that much out of date; a missing value is not cached, so
 * that a new record works at once.
 */
export class ExpiringCache<Value> {
  readonly #options: ExpiringCacheOptions;
  readonly #entries: BoundedMap<string, { value: Value; expiresAtMs: number }>;
  #forgets = 0;

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
    this.#entries = new BoundedMap(options.entriesMax);
  }

  async get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const nowMs = this.#options.clock.now().getTime();
    const entry = this.#entries.get(key);
    // After the clock is set back, an entry must not live longer than its lifetime.
    const leftMs = (entry?.expiresAtMs ?? 0) - nowMs;
    if (entry && leftMs > 0 && leftMs <= this.#options.lifetimeMs) return entry.value;
    const forgets = this.#forgets;
    const value = await load();
    this.#entries.delete(key);
    // What was forgotten meanwhile may have been read before it changed.
    if (value !== undefined && forgets === this.#forgets)
      this.#entries.set(key, { value, expiresAtMs: nowMs + this.#options.lifetimeMs });
    return value;
  }

  /** The next `get` loads the value. */
  forget(key: string): void {
    this.#forgets += 1;
    this.#entries.delete(key);
  }
}
