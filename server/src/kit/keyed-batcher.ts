import { KeyedRunner } from './keyed-runner.ts';

interface Waiting<Item> {
  item: Item;
  done: () => void;
}

/**
 * Writes items in batches: what comes in while a key's batch is being written is the key's next one. So a single item waits
 * for nothing, and a thousand a second cost tens of writes. Keys have their turns.
 */
export class KeyedBatcher<Item> {
  /** By key. */
  readonly #waiting = new Map<string, Waiting<Item>[]>();
  readonly #runner: KeyedRunner;

  /** `write` must not reject: what it cannot write is its own to report. */
  constructor(
    write: (key: string, items: readonly Item[]) => Promise<void>,
    { keysMax, batchMax }: { keysMax: number; batchMax: number },
  ) {
    this.#runner = new KeyedRunner(async (key) => {
      const waiting = this.#waiting.get(key) ?? [];
      const batch = waiting.splice(0, batchMax);
      if (waiting.length === 0) this.#waiting.delete(key);
      else this.#runner.schedule(key);
      if (batch.length === 0) return;
      await write(
        key,
        batch.map(({ item }) => item),
      );
      for (const { done } of batch) done();
    }, keysMax);
  }

  /** Resolves when the item is written, or could not be. */
  add(key: string, item: Item): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push({ item, done: resolve });
    else this.#waiting.set(key, [{ item, done: resolve }]);
    this.#runner.schedule(key);
    return promise;
  }
}
