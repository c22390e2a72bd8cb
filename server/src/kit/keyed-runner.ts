/**
 * Runs a function for one key at a time: scheduled while it runs, it runs once more afterwards, so that nothing that
 * became due meanwhile waits for the next look. Different keys run side by side, up to a limit.
 */
export class KeyedRunner {
  readonly #run: (key: string) => Promise<void>;
  readonly #keysMax: number;
  readonly #running = new Map<string, { again: boolean; done: Promise<void> }>();
  readonly #waiting = new Set<string>();

  /** `run` must not reject: what fails is its own to report. */
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

  /** Forgets what has not begun. */
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
      // A key that always has more to do gives way to the ones that wait.
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
