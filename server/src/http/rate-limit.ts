import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { SharedAllowances } from '../kit/shared-allowance.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { findArrival, takeAllowance } from './queries.ts';

export interface RateLimitSettings {
  liveRequestsPerSecond: number;
  testRequestsPerSecond: number;
}

/** Header fields of draft-ietf-httpapi-ratelimit-headers: `ratelimit-policy` and `ratelimit`. */
export type RateLimitHeaders = Record<string, string>;

// A client may send this much of its rate at once before it is slowed down to the rate.
const burstSeconds = 2;

/** What a request may be told: the header fields, and the refusal when its merchant has used up the allowance. */
export interface Allowance {
  headers: RateLimitHeaders;
  refusal: AppError | null;
}

/** Limits requests per merchant, which is one business in one environment, over all its keys and all processes. */
export class RateLimiter {
  readonly #db: Queryable;
  readonly #settings: RateLimitSettings;
  readonly #allowances: SharedAllowances;

  constructor(db: Queryable, clock: Clock, settings: RateLimitSettings) {
    this.#db = db;
    this.#settings = settings;
    this.#allowances = new SharedAllowances(clock, { burstSeconds });
  }

  /** Null where there is no limit. The refusal is an AppError `rate_limited`. */
  async take(merchant: Merchant): Promise<Allowance | null> {
    const rate = this.#rateOf(merchant);
    if (rate === 0) return null;
    const taken = await this.#allowances.take({
      key: merchant.id,
      rate,
      take: (take) => takeAllowance(this.#db, merchant.id, take),
      findArrival: () => findArrival(this.#db, merchant.id),
    });
    if ('left' in taken) return { headers: headers(rate, { left: taken.left, seconds: 1 }), refusal: null };
    return refuse(rate, taken);
  }

  #rateOf(merchant: Merchant): number {
    if (merchant.rateLimitPerSecond !== null) return Number(merchant.rateLimitPerSecond);
    return merchant.testMode ? this.#settings.testRequestsPerSecond : this.#settings.liveRequestsPerSecond;
  }
}

function refuse(rate: number, { retryAfterSeconds }: { retryAfterSeconds: number }): Allowance {
  const counted = `All keys of this merchant together may send ${rate} requests a second.`;
  const message = `${counted} Wait ${retryAfterSeconds} s and send fewer at once.`;
  return {
    headers: headers(rate, { left: 0, seconds: retryAfterSeconds }),
    refusal: new AppError('rate_limited', message, { retryAfterSeconds }),
  };
}

/** `seconds`: how long until there is more. */
function headers(rate: number, { left, seconds }: { left: number; seconds: number }): RateLimitHeaders {
  return {
    'ratelimit-policy': `"default";q=${rate * burstSeconds};w=${burstSeconds}`,
    ratelimit: `"default";r=${Math.max(0, left)};t=${seconds}`,
  };
}
