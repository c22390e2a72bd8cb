/** What is to be written down for a merchant. */
export interface OfMerchant {
  merchantId: string;
}

interface Waiting<Outcome> {
  outcome: Outcome;
  done: () => void;
}

// Each is a transaction and a connection for some milliseconds; requests of merchants share the connections.
const writingMax = 4;
// Some milliseconds of statements.
const batchMax = 128;

/**
 * Writes outcomes down in batches: what comes in while a merchant's batch is being written is the merchant's next one. So
 * a single outcome waits for nothing, and a thousand a second cost tens of transactions. Merchants have their turns.
 */
export class OutcomeRecorder<Outcome extends OfMerchant> {
  readonly #write: (merchantId: string, outcomes: readonly Outcome[]) => Promise<void>;
  /** By merchant, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting<Outcome>[]>();
  readonly #writing = new Set<string>();

  /** `write` must not reject: what it cannot write is its own to report. */
  constructor(write: (merchantId: string, outcomes: readonly Outcome[]) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when the outcome is written, or could not be. */
  record(outcome: Outcome): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { merchantId } = outcome;
    const waiting = this.#waiting.get(merchantId);
    if (waiting) waiting.push({ outcome, done: resolve });
    else this.#waiting.set(merchantId, [{ outcome, done: resolve }]);
    this.#start();
    return promise;
  }

  #start(): void {
    for (const [merchantId, waiting] of this.#waiting) {
      if (this.#writing.size >= writingMax) return;
      if (this.#writing.has(merchantId)) continue;
      const batch = waiting.splice(0, batchMax);
      this.#waiting.delete(merchantId);
      // Behind the others.
      if (waiting.length > 0) this.#waiting.set(merchantId, waiting);
      this.#writing.add(merchantId);
      void this.#writeBatch(merchantId, batch);
    }
  }

  async #writeBatch(merchantId: string, batch: readonly Waiting<Outcome>[]): Promise<void> {
    await this.#write(
      merchantId,
      batch.map((waiting) => waiting.outcome),
    );
    this.#writing.delete(merchantId);
    for (const { done } of batch) done();
    this.#start();
  }
}
