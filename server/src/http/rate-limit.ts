import { AppError } from '../kit/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
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
// A process takes this share of a second's allowance at once, so that most requests ask nobody; what it does not use
// within the second is lost to the merchant, which is the error of the shared limit.
const leaseShare = 0.04;
const leaseLifetimeMs = 1_000;
const merchantsMax = 10_000;

interface Lease {
  left: number;
  expiresAtMs: number;
}

/** Limits requests per merchant over all processes together. */
export class RateLimiter {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #settings: RateLimitSettings;
  readonly #leases = new Map<string, Lease>();

  constructor(db: Queryable, clock: Clock, settings: RateLimitSettings) {
    this.#db = db;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Answers the header fields, null where there is no limit; throws AppError `rate_limited`. */
  async take(merchant: Merchant): Promise<RateLimitHeaders | null> {
    const rate = this.#rateOf(merchant);
    if (rate === 0) return null;
    const nowMs = this.#clock.now().getTime();
    const lease = this.#leases.get(merchant.id);
    if (lease && lease.left > 0 && lease.expiresAtMs > nowMs) {
      lease.left -= 1;
      return headers(rate, lease.left);
    }
    return this.#takeLease(merchant, rate, nowMs);
  }

  async #takeLease(merchant: Merchant, rate: number, nowMs: number): Promise<RateLimitHeaders> {
    const size = Math.max(1, Math.floor(rate * leaseShare));
    const nowUs = BigInt(nowMs) * 1_000n;
    const costUs = BigInt(Math.round((1_000_000 / rate) * size));
    const burstUs = BigInt(burstSeconds) * 1_000_000n;
    const arrivalUs = await takeAllowance(this.#db, { merchantId: merchant.id, nowUs, costUs, burstUs });
    if (arrivalUs === undefined) throw await this.#refuse(merchant, { nowUs, costUs, burstUs });
    if (this.#leases.size >= merchantsMax) this.#leases.clear();
    this.#leases.set(merchant.id, { left: size - 1, expiresAtMs: nowMs + leaseLifetimeMs });
    const leftUs = burstUs - (arrivalUs - nowUs);
    return headers(rate, size - 1 + Math.floor((Number(leftUs) / 1_000_000) * rate));
  }

  async #refuse(
    merchant: Merchant,
    { nowUs, costUs, burstUs }: { nowUs: bigint; costUs: bigint; burstUs: bigint },
  ): Promise<AppError> {
    const arrivalUs = (await findArrival(this.#db, merchant.id)) ?? nowUs;
    const waitUs = arrivalUs + costUs - nowUs - burstUs;
    const retryAfterSeconds = Math.max(1, Math.ceil(Number(waitUs) / 1_000_000));
    const message = `Too many requests for this key. Wait ${retryAfterSeconds} s and send fewer at once.`;
    return new AppError('rate_limited', message, { retryAfterSeconds });
  }

  #rateOf(merchant: Merchant): number {
    if (merchant.rateLimitPerSecond !== null) return Number(merchant.rateLimitPerSecond);
    return merchant.testMode ? this.#settings.testRequestsPerSecond : this.#settings.liveRequestsPerSecond;
  }
}

function headers(rate: number, left: number): RateLimitHeaders {
  return {
    'ratelimit-policy': `"default";q=${rate * burstSeconds};w=${burstSeconds}`,
    ratelimit: `"default";r=${Math.max(0, left)};t=1`,
  };
}
