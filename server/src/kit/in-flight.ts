/** Shares one run among the calls with the same key that arrive while it runs. */
export class InFlight<Result> {
  readonly #running = new Map<string, Promise<Result>>();

  /** Rejects for every one of them if the run does. */
  share(key: string, run: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key);
    if (running) return running;
    const started = run().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
