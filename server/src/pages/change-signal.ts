/** Lets a stream wait for a change or the end of its sleep; a notification since the last wait counts, so that none is missed. */
export class ChangeSignal {
  #isNotified = false;
  #waiting: AbortController | null = null;

  constructor(ended: AbortSignal) {
    ended.addEventListener('abort', () => this.notify());
  }

  notify(): void {
    this.#isNotified = true;
    this.#waiting?.abort();
  }

  async wait(sleep: (until: AbortSignal) => Promise<void>): Promise<void> {
    if (!this.#isNotified) {
      this.#waiting = new AbortController();
      await sleep(this.#waiting.signal);
      this.#waiting = null;
    }
    this.#isNotified = false;
  }
}
