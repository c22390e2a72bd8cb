/**
 * Runs a function at most once at a time for each key. A key that is scheduled while it runs, runs once more afterwards, so
 * that work which became due meanwhile is done. Different keys run concurrently, up to a limit.
 */
export class KeyedRunner {
  readonly #run: (key: string) => Promise<void>;
  readonly #keysMax: number;
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>();
  readonly #waiting = new Set<string>();

  /** `run` must not reject: it reports its failures itself. */
  constructor(run: (key: string) => Promise<void>, keysMax: number) {
    this.#run = run;
    this.#keysMax = keysMax;
  }

  schedule(key: string): void {
    const running = this.#running.get(key);
    if (running) running.again = true;
    else if (this.#running.size >= this.#keysMax) this.#waiting.add(key);
    else this.#start(key);
  }

  /** Drops the keys that have not started. */
  clearWaiting(): void {
    this.#waiting.clear();
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map((entry) => entry.done));
  }

  #start(key: string): void {
    const entry = { again: false, done: Promise.resolve() };
    this.#running.set(key, entry);
    entry.done = this.#loop(key, entry);
  }

  async #loop(key: string, entry: { again: boolean }): Promise<void> {
    do {
      entry.again = false;
      await this.#run(key);
      // A key that always has more work yields to those that wait.
    } while (entry.again && this.#waiting.size === 0);
    this.#running.delete(key);
    if (entry.again) this.#waiting.add(key);
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      this.#start(next);
    }
  }
}
