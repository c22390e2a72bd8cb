import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Clock } from '../kit/clock.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { limitHeaders, type RateLimitHeaders } from './rate-limit.ts';

// A deployment without its key sees the error in a hundred responses before it is slowed down.
const burstSeconds = 10;

// Beyond the limit this process still looks up a few keys that are new to it, so that a flood from an address does not block the
// valid keys behind the same address, even just after a start.
const newKeys = { rate: 2, burst: 20 };

/** The header fields of the response, and the refusal if the address has used up its limit. */
export interface KeylessPermit {
  headers: RateLimitHeaders;
  /** AppError `rate_limited`. */
  refusal?: AppError;
  /** Returns the permit, for a request whose key turns out to be valid. */
  release?: () => void;
}

/**
 * Limits the requests without a valid API key for each client address (docs/api.md, "Rate limits"), so that guessing keys
 * and repeating a wrong one cost the database nothing. Each process counts for itself: shared counts would cost more than they
 * save.
 */
export class KeylessLimit {
  readonly #rate: number;
  readonly #allowances: LocalAllowances | null;
  readonly #newKeys: LocalAllowances;

  /** `rate`: requests per second from one address; 0 is no limit. */
  constructor(clock: Clock, rate: number) {
    this.#rate = rate;
    this.#allowances = rate === 0 ? null : new LocalAllowances(clock, { rate, burst: rate * burstSeconds });
    this.#newKeys = new LocalAllowances(clock, newKeys);
  }

  /** Takes a permit of this address. `isNew`: the request has a key that this process has not looked up yet. */
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
