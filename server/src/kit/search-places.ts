import { AppError } from './app-error.ts';

/** How much of one kind may run at once in a process, and of one merchant. */
interface PlaceLimits {
  placesMax: number;
  perMerchant: number;
  /** The sentence for whoever finds no place. */
  full: string;
}

// A search reads every row of its merchant and holds a database connection meanwhile. These are a fifth of a process's
// connections, so that however much is searched, payments find one.
const searches: PlaceLimits = {
  placesMax: 4,
  perMerchant: 2,
  full: 'Other searches are still running. Send this one again in a second.',
};

/** For what sends up to ten thousand events again, which takes seconds: beside the searches, so that it takes no place of theirs. */
export const bulkResendLimits: PlaceLimits = {
  placesMax: 2,
  perMerchant: 1,
  full: 'Other events are still being sent again. Send this request again in a second.',
};

/** Lets a few searches run at once and turns the others away at once, instead of letting everybody wait for them. */
export class SearchPlaces {
  readonly #limits: PlaceLimits;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor(limits = searches) {
    this.#limits = limits;
  }

  /** Throws AppError `rate_limited` when there is no place. */
  async search<Result>(merchantId: string, search: () => Promise<Result>): Promise<Result> {
    const taken = this.#taken.get(merchantId) ?? 0;
    const { placesMax, perMerchant, full } = this.#limits;
    if (taken >= perMerchant || this.#count >= placesMax) {
      throw new AppError('rate_limited', full, { retryAfterSeconds: 1 });
    }
    this.#count += 1;
    this.#taken.set(merchantId, taken + 1);
    try {
      return await search();
    } finally {
      this.#count -= 1;
      const left = (this.#taken.get(merchantId) ?? 1) - 1;
      if (left === 0) this.#taken.delete(merchantId);
      else this.#taken.set(merchantId, left);
    }
  }
}
