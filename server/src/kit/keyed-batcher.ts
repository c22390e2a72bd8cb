import { KeyedRunner } from './keyed-runner.ts';

interface Waiting<Item> {
  item: Item;
  done: () => void;
}

/**
 * Writes items in batches: the items that arrive while a key's batch is being written form its next batch. A single item is
 * written at once, and a thousand a second take tens of writes. At most `keysMax` keys write at the same time.
 */
export class KeyedBatcher<Item> {
  /** By key. */
  readonly #waiting = new Map<string, Waiting<Item>[]>();
  readonly #runner: KeyedRunner;

  /** `write` must not reject: it reports its failures itself. */
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

  /** Resolves when the item was written, or the attempt failed. */
  add(key: string, item: Item): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push({ item, done: resolve });
    else this.#waiting.set(key, [{ item, done: resolve }]);
    this.#runner.schedule(key);
    return promise;
  }
}
