import { hash } from 'node:crypto';

/** A stream of choices that a seed determines. Not `seededRandom`: a run makes some ten thousand choices, and most are of few. */
export class Choices {
  #state: number;

  constructor(seed: string) {
    this.#state = hash('sha256', seed, 'buffer').readUInt32BE();
  }

  /** A whole number from 0 to `count` - 1 (mulberry32). */
  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * count);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0];
  }
}
