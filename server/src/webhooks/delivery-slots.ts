/**
 * How many requests may be under way: in all, for one merchant and for one lane (an endpoint's own URL, or a merchant's
 * callback addresses). A receiver that answers slowly fills its lane and nothing else.
 */
export class DeliverySlots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<() => void>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Takes as many slots as are free for this lane, at most as many as a lane may have. Answers how many. */
  reserve(lane: Lane): number {
    const { total, perMerchant, perLane } = this.#limits;
    const free = Math.min(
      total - this.#count(all),
      perMerchant - this.#count(lane.merchantId),
      perLane - this.#count(lane.key),
    );
    const count = Math.max(0, free);
    this.#add(lane, count);
    return count;
  }

  release(lane: Lane, count: number): void {
    if (count === 0) return;
    this.#add(lane, -count);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Resolves at the next release, or when the signal aborts. */
  untilReleased(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener('abort', () => {
      this.#waiting.delete(resolve);
      resolve();
    });
    return promise;
  }

  #count(key: string): number {
    return this.#taken.get(key) ?? 0;
  }

  #add(lane: Lane, count: number): void {
    for (const key of [all, lane.merchantId, lane.key]) {
      const taken = this.#count(key) + count;
      if (taken === 0) this.#taken.delete(key);
      else this.#taken.set(key, taken);
    }
  }
}

export interface SlotLimits {
  total: number;
  perMerchant: number;
  perLane: number;
}

export interface Lane {
  merchantId: string;
  /** Differs from every other lane's and from every merchant's id. */
  key: string;
}

const all = 'all';
