import { AppError } from './app-error.ts';

// A search reads every row of its merchant and holds a database connection meanwhile. These are a fifth of a process's
// connections, so that however much is searched, payments find one.
const placesMax = 4;
const placesPerMerchant = 2;

/** Lets a few searches run at once and turns the others away at once, instead of letting everybody wait for them. */
export class SearchPlaces {
  readonly #taken = new Map<string, number>();
  #count = 0;

  /** Throws AppError `rate_limited` when there is no place. */
  async search<Result>(merchantId: string, search: () => Promise<Result>): Promise<Result> {
    const taken = this.#taken.get(merchantId) ?? 0;
    if (taken >= placesPerMerchant || this.#count >= placesMax) {
      const message = 'Other searches are still running. Send this one again in a second.';
      throw new AppError('rate_limited', message, { retryAfterSeconds: 1 });
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
