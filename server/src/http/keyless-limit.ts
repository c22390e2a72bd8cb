import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { limitHeaders } from './rate-limit.ts';
import type { RateLimitHeaders } from './rate-limit.ts';

// A deployment that forgot its key is told so by a hundred answers before it is slowed down.
const burstSeconds = 10;

// Beyond it a few keys that this process has not seen yet are still looked up, so that a flood from an address does not refuse
// the good keys behind it, also just after a start.
const newKeys = { rate: 2, burst: 20 };

/** What became of a request's turn: the header fields of its answer, and the refusal where it has none. */
export interface KeylessPermit {
  headers: RateLimitHeaders;
  /** AppError `rate_limited`. */
  refusal?: AppError;
  /** For a request whose key is found to be valid. */
  release?: () => void;
}

/**
 * Limits the requests without a valid API key for each client address (docs/api.md, "Rate limits"), so that guessing keys
 * and repeating a wrong one cost the database nothing. Each process counts for itself: sharing the counts would cost
 * more than what they save.
 */
export class KeylessLimit {
  readonly #rate: number;
  readonly #allowances: LocalAllowances | null;
  readonly #newKeys: LocalAllowances;

  /** `rate`: requests a second from one address; 0 is no limit. */
  constructor(clock: Clock, rate: number) {
    this.#rate = rate;
    this.#allowances = rate === 0 ? null : new LocalAllowances(clock, { rate, burst: rate * burstSeconds });
    this.#newKeys = new LocalAllowances(clock, newKeys);
  }

  /** Takes a turn of this address. `isNew`: the request has a key that nobody has looked up here yet. */
  take(address: string, { isNew }: { isNew: boolean }): KeylessPermit {
    if (!this.#allowances) return { headers: {} };
    const network = clientNetwork(address);
    const result = this.#allowances.take(network);
    if ('left' in result) {
      const release = () => this.#allowances?.restore(network);
      return { headers: this.#headers({ left: result.left, seconds: 1 }), release };
    }
    const { retryAfterSeconds } = result;
    const headers = this.#headers({ left: 0, seconds: retryAfterSeconds });
    if (isNew && 'left' in this.#newKeys.take(network)) {
      return { headers, release: () => this.#newKeys.restore(network) };
    }
    const message = `Too many requests without a valid API key came from your address. Check the key and wait ${retryAfterSeconds} s.`;
    return { headers, refusal: new AppError('rate_limited', message, { retryAfterSeconds }) };
  }

  #headers(state: { left: number; seconds: number }): RateLimitHeaders {
    return limitHeaders([{ name: 'address', quota: this.#rate * burstSeconds, windowSeconds: burstSeconds, ...state }]);
  }
}
