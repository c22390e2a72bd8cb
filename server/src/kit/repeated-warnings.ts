type Fields = Readonly<Record<string, unknown>>;

// Enough to see what happens. A service at its limit refuses hundreds of requests a second: a line for each takes processor time that
// it lacks, fills a disk at 100 kB a second, and hides every other line.
const writtenMax = 10;
const periodMs = 1_000;
// Of different warnings within one period; what comes on top is written at once.
const differentMax = 1_000;

interface Warning {
  message: string;
  /** Of the last one. */
  fields: Fields;
  count: number;
}

/** Writes the first ten of equal warnings in a second, and then the last one with how many were left out (`repeated`). */
export class RepeatedWarnings {
  readonly #write: (message: string, fields: Fields) => void;
  readonly #ignored: readonly string[];
  readonly #warnings = new Map<string, Warning>();

  /** `ignored`: fields in which equal warnings may differ. */
  constructor(ignored: readonly string[], write: (message: string, fields: Fields) => void) {
    this.#ignored = ignored;
    this.#write = write;
  }

  add(message: string, fields: Fields = {}): void {
    const key = JSON.stringify([message, fields], (name, value: unknown) => {
      if (this.#ignored.includes(name)) return undefined;
      return typeof value === 'bigint' ? String(value) : value;
    });
    // oxlint-disable-next-line no-restricted-globals -- a log has no clock, and its timer keeps no process running
    if (this.#warnings.size === 0) setTimeout(() => this.#endPeriod(), periodMs).unref();
    const known = this.#warnings.get(key);
    const warning = { message, fields, count: (known?.count ?? 0) + 1 };
    if (known || this.#warnings.size < differentMax) this.#warnings.set(key, warning);
    if (warning.count <= writtenMax) this.#write(message, fields);
  }

  #endPeriod(): void {
    for (const { message, fields, count } of this.#warnings.values()) {
      if (count > writtenMax) this.#write(message, { ...fields, repeated: count - writtenMax });
    }
    this.#warnings.clear();
  }
}
