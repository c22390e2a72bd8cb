/** A Map that forgets the entry which was set first when there would be more than it may hold. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    super();
    this.#entriesMax = entriesMax;
  }

  /** An entry that is there keeps its place among those to be forgotten; delete it first to make it the newest. */
  override set(key: Key, value: Value): this {
    if (!this.has(key) && this.size >= this.#entriesMax) {
      const [oldest] = this.entries();
      if (oldest) this.delete(oldest[0]);
    }
    return super.set(key, value);
  }
}
