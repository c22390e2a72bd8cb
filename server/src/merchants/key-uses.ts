import { BoundedMap } from '../kit/bounded-map.ts';
import type { Queryable } from '../kit/db.ts';
import { upsertKeyUse, type KeyUse } from './queries/api-keys.ts';

// With more keys in use between two writes, the uses of some are lost, not memory.
const keysMax = 10_000;

/**
 * The last use of each API key, in memory until a chore writes it: a request waits for nothing, and a key costs the database one
 * row a minute, however often it is used.
 */
export class KeyUses {
  readonly #db: Queryable;
  /** By key id. */
  readonly #unwritten = new BoundedMap<string, KeyUse & { merchantId: string }>(keysMax);

  constructor(db: Queryable) {
    this.#db = db;
  }

  note(use: KeyUse & { merchantId: string }): void {
    this.#unwritten.set(use.keyId, use);
  }

  /** Writes them. What fails stays for the next time. */
  async write(): Promise<void> {
    for (const [keyId, use] of [...this.#unwritten]) {
      await upsertKeyUse(this.#db, use);
      // A later use may have come meanwhile.
      if (this.#unwritten.get(keyId) === use) this.#unwritten.delete(keyId);
    }
  }
}
