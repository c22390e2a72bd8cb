import { AppError } from '../kit/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { limitHeaders } from './rate-limit.ts';
import type { RateLimitHeaders } from './rate-limit.ts';

// A deployment that forgot its key is told so by a hundred answers before it is slowed down.
const burstSeconds = 10;

/**
 * Limits the requests without a valid API key for each client address (decisions, "Rate limits"), so that guessing keys
 * and repeating a wrong one cost the database nothing. Each process counts for itself: sharing the counts would cost
 * more than what they save.
 */
export class KeylessLimit {
  readonly #rate: number;
  readonly #allowances: LocalAllowances | null;

  /** `rate`: requests a second from one address; 0 is no limit. */
  constructor(clock: Clock, rate: number) {
    this.#rate = rate;
    this.#allowances = rate === 0 ? null : new LocalAllowances(clock, { rate, burst: rate * burstSeconds });
  }

  /** Null while this address may go on. The refusal is an AppError `rate_limited`. */
  refusal(address: string): { error: AppError; headers: RateLimitHeaders } | null {
    const seen = this.#allowances?.look(clientNetwork(address));
    if (!seen || 'left' in seen) return null;
    const { retryAfterSeconds } = seen;
    const message = `Too many requests without a valid API key came from your address. Check the key and wait ${retryAfterSeconds} s.`;
    return {
      error: new AppError('rate_limited', message, { retryAfterSeconds }),
      headers: this.#headers({ left: 0, seconds: retryAfterSeconds }),
    };
  }

  /** Counts a request that had no valid key, and answers the header fields of its refusal. */
  charge(address: string): RateLimitHeaders {
    if (!this.#allowances) return {};
    const key = clientNetwork(address);
    this.#allowances.charge(key);
    const after = this.#allowances.look(key);
    return 'left' in after
      ? this.#headers({ left: after.left, seconds: 1 })
      : this.#headers({ left: 0, seconds: after.retryAfterSeconds });
  }

  #headers(state: { left: number; seconds: number }): RateLimitHeaders {
    return limitHeaders([{ name: 'address', quota: this.#rate * burstSeconds, windowSeconds: burstSeconds, ...state }]);
  }
}
