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

/** What a request may be told: the header fields, and the refusal when its merchant has used up the allowance. */
export interface Allowance {
  headers: RateLimitHeaders;
  refusal: AppError | null;
}

interface Lease {
  left: number;
  /** What was left to all processes together when this one took its lease. */
  leftToAll: number;
  expiresAtMs: number;
}

/** Limits requests per merchant, which is one business in one environment, over all its keys and all processes. */
export class RateLimiter {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #settings: RateLimitSettings;
  readonly #leases = new Map<string, Lease>();
  readonly #asked = new Map<string, Promise<Allowance | null>>();

  constructor(db: Queryable, clock: Clock, settings: RateLimitSettings) {
    this.#db = db;
    this.#clock = clock;
    this.#settings = settings;
  }

  /** Null where there is no limit. The refusal is an AppError `rate_limited`. */
  async take(merchant: Merchant): Promise<Allowance | null> {
    const rate = this.#rateOf(merchant);
    if (rate === 0) return null;
    for (;;) {
      const lease = this.#leases.get(merchant.id);
      if (lease && lease.left > 0 && lease.expiresAtMs > this.#clock.now().getTime()) {
        lease.left -= 1;
        return { headers: headers(rate, { left: lease.left + lease.leftToAll, seconds: 1 }), refusal: null };
      }
      const refused = await this.#askOnce(merchant, rate);
      if (refused) return refused;
    }
  }

  /**
   * One lease at a time for each merchant: of several that were taken side by side all but the last would be lost, and
   * a client with ten requests under way would get a third of its rate.
   */
  #askOnce(merchant: Merchant, rate: number): Promise<Allowance | null> {
    const asked = this.#asked.get(merchant.id);
    if (asked) return asked;
    const asking = this.#takeLease(merchant, rate).finally(() => this.#asked.delete(merchant.id));
    this.#asked.set(merchant.id, asking);
    return asking;
  }

  /** Answers the refusal, or null once there is a lease. */
  async #takeLease(merchant: Merchant, rate: number): Promise<Allowance | null> {
    const nowMs = this.#clock.now().getTime();
    const size = Math.max(1, Math.floor(rate * leaseShare));
    const nowUs = BigInt(nowMs) * 1_000n;
    const costUs = BigInt(Math.round((1_000_000 / rate) * size));
    const burstUs = BigInt(burstSeconds) * 1_000_000n;
    const arrivalUs = await takeAllowance(this.#db, { merchantId: merchant.id, nowUs, costUs, burstUs });
    if (arrivalUs === undefined) return this.#refuse(merchant, rate, { nowUs, costUs, burstUs });
    if (this.#leases.size >= merchantsMax) this.#leases.clear();
    const leftUs = burstUs - (arrivalUs - nowUs);
    const leftToAll = Math.floor((Number(leftUs) / 1_000_000) * rate);
    this.#leases.set(merchant.id, {
      left: size,
      leftToAll,
      expiresAtMs: this.#clock.now().getTime() + leaseLifetimeMs,
    });
    return null;
  }

  async #refuse(
    merchant: Merchant,
    rate: number,
    { nowUs, costUs, burstUs }: { nowUs: bigint; costUs: bigint; burstUs: bigint },
  ): Promise<Allowance> {
    const arrivalUs = (await findArrival(this.#db, merchant.id)) ?? nowUs;
    const waitUs = arrivalUs + costUs - nowUs - burstUs;
    const retryAfterSeconds = Math.max(1, Math.ceil(Number(waitUs) / 1_000_000));
    const counted = `All keys of this merchant together may send ${rate} requests a second.`;
    const message = `${counted} Wait ${retryAfterSeconds} s and send fewer at once.`;
    return {
      headers: headers(rate, { left: 0, seconds: retryAfterSeconds }),
      refusal: new AppError('rate_limited', message, { retryAfterSeconds }),
    };
  }

  #rateOf(merchant: Merchant): number {
    if (merchant.rateLimitPerSecond !== null) return Number(merchant.rateLimitPerSecond);
    return merchant.testMode ? this.#settings.testRequestsPerSecond : this.#settings.liveRequestsPerSecond;
  }
}

/** `seconds`: how long until there is more. */
function headers(rate: number, { left, seconds }: { left: number; seconds: number }): RateLimitHeaders {
  return {
    'ratelimit-policy': `"default";q=${rate * burstSeconds};w=${burstSeconds}`,
    ratelimit: `"default";r=${Math.max(0, left)};t=${seconds}`,
  };
}
