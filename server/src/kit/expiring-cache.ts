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
  readonly #loading = new Map<string, Promise<Value | undefined>>();
  #forgets = 0;

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
    this.#entries = new BoundedMap(options.entriesMax);
  }

  async get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    return this.#known(key) ?? (await this.#load(key, load));
  }

  #known(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    // After the clock is set back, an entry must not live longer than its lifetime.
    const leftMs = (entry?.expiresAtMs ?? 0) - this.#options.clock.now().getTime();
    return leftMs > 0 && leftMs <= this.#options.lifetimeMs ? entry?.value : undefined;
  }

  async #load(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const nowMs = this.#options.clock.now().getTime();
    const forgets = this.#forgets;
    const value = await load();
    // What was forgotten meanwhile may have been read before it changed.
    if (forgets !== this.#forgets) return value;
    this.#entries.delete(key);
    if (value !== undefined) this.#entries.set(key, { value, expiresAtMs: nowMs + this.#options.lifetimeMs });
    return value;
  }

  /**
   * `get`, but callers that come while the value is loaded share it. Not for a caller in a transaction: it would wait, with its
   * locks, for a load that may wait for them.
   */
  async getShared(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.#known(key);
    if (known !== undefined) return known;
    const loading = this.#loading.get(key);
    // What was missing when that load began may be there now.
    const shared = loading && (await loading.catch(() => undefined));
    if (shared !== undefined) return shared;
    const own = this.get(key, load);
    this.#loading.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#loading.get(key) === own) this.#loading.delete(key);
    }
  }

  /** The next `get` loads the value. */
  forget(key: string): void {
    this.#forgets += 1;
    this.#loading.delete(key);
    this.#entries.delete(key);
  }
}
