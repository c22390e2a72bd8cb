/** A Map of limited size: setting one entry too many evicts the oldest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    super();
    this.#entriesMax = entriesMax;
  }

  /** Overwriting an entry does not make it newer; delete it first for that. */
  override set(key: Key, value: Value): this {
    if (!this.has(key) && this.size >= this.#entriesMax) {
      const [oldest] = this.entries();
      if (oldest) this.delete(oldest[0]);
    }
    return super.set(key, value);
  }
}
