import { totalMax } from './pagination.ts';

const entriesMax = 10_000;

/**
 * Remembers which lists have outgrown the exact total. Only for lists that nothing is ever taken from: what was too
 * long once stays so, and counting 10,000 rows for each first page would cost more than the page.
 */
export class LongLists {
  readonly #names = new Set<string>();

  async count(name: string, count: () => Promise<number>): Promise<number> {
    if (this.#names.has(name)) return totalMax + 1;
    const total = await count();
    if (total > totalMax && this.#names.size < entriesMax) this.#names.add(name);
    return total;
  }
}
