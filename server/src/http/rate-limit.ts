import { AppError } from '../api/app-error.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { SharedAllowances, type AllowanceResult } from '../kit/shared-allowance.ts';
import type { KeyHolder } from '../merchants/authenticate-key.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { findArrival, findKeyArrival, takeAllowance, takeKeyAllowance } from './queries.ts';

export interface RateLimitSettings {
  liveRequestsPerSecond: number;
  testRequestsPerSecond: number;
  /** The percentage of its merchant's rate that one of several keys may use, 1 to 100; 100 is no limit per key. */
  keyPercent: number;
}

/** Header fields of draft-ietf-httpapi-ratelimit-headers: `ratelimit-policy` and `ratelimit`. */
export type RateLimitHeaders = Record<string, string>;

// A client may send this much of its rate at once before it is slowed down to the rate.
const burstSeconds = 2;

/** The header fields of the response, and the refusal if the merchant or the key has used up its allowance. */
export interface Allowance {
  headers: RateLimitHeaders;
  refusal: AppError | null;
}

/**
 * Limits requests per merchant (one business in one environment) across all its keys and all processes. Within that, it limits
 * each key of a merchant with several, so that a runaway program leaves room for the others.
 */
export class RateLimiter {
  readonly #db: Queryable;
  readonly #settings: RateLimitSettings;
  readonly #ofMerchants: SharedAllowances;
  readonly #ofKeys: SharedAllowances;

  constructor(db: Queryable, clock: Clock, settings: RateLimitSettings) {
    this.#db = db;
    this.#settings = settings;
    this.#ofMerchants = new SharedAllowances(clock, { burstSeconds });
    this.#ofKeys = new SharedAllowances(clock, { burstSeconds });
  }

  /** Null where there is no limit. The refusal is an AppError `rate_limited`. */
  async take({ merchant, keyId, isOnlyKey }: KeyHolder): Promise<Allowance | null> {
    const rate = this.#rateOf(merchant);
    if (rate === 0) return null;
    const keyPercent = Number(merchant.rateLimitKeyPercent ?? this.#settings.keyPercent);
    const keyRate = Math.max(1, Math.floor((rate * keyPercent) / 100));
    const hasKeyLimit = !isOnlyKey && keyRate < rate;
    // First, so that requests beyond a key's part use nothing of the other keys' allowance.
    const keyResult = hasKeyLimit ? await this.#takeOfKey({ merchantId: merchant.id, keyId }, keyRate) : null;
    if (keyResult && 'retryAfterSeconds' in keyResult) return refuse('key', keyRate, keyResult.retryAfterSeconds);
    const result = await this.#ofMerchants.take({
      key: merchant.id,
      rate,
      take: (take) => takeAllowance(this.#db, merchant.id, take),
      findArrival: () => findArrival(this.#db, merchant.id),
    });
    if ('left' in result) {
      const limits = [limitOf('default', rate, { left: result.left, seconds: 1 })];
      if (keyResult) limits.push(limitOf('key', keyRate, { left: keyResult.left, seconds: 1 }));
      return { headers: limitHeaders(limits), refusal: null };
    }
    if (keyResult) this.#ofKeys.restore(keyId);
    return refuse('default', rate, result.retryAfterSeconds);
  }

  #takeOfKey(key: { merchantId: string; keyId: string }, rate: number): Promise<AllowanceResult> {
    return this.#ofKeys.take({
      key: key.keyId,
      rate,
      take: (take) => takeKeyAllowance(this.#db, key, take),
      findArrival: () => findKeyArrival(this.#db, key),
    });
  }

  #rateOf(merchant: Merchant): number {
    if (merchant.rateLimitPerSecond !== null) return Number(merchant.rateLimitPerSecond);
    return merchant.testMode ? this.#settings.testRequestsPerSecond : this.#settings.liveRequestsPerSecond;
  }
}

type LimitName = 'default' | 'key';

const limitMessages: Record<LimitName, (rate: number) => string> = {
  default: (rate) => `All keys of this merchant together may send ${rate} requests a second.`,
  key: (rate) => `Each of this merchant’s keys may send ${rate} requests a second.`,
};

function refuse(name: LimitName, rate: number, retryAfterSeconds: number): Allowance {
  const message = `${limitMessages[name](rate)} Wait ${retryAfterSeconds} s and send fewer at once.`;
  return {
    headers: limitHeaders([limitOf(name, rate, { left: 0, seconds: retryAfterSeconds })]),
    refusal: new AppError('rate_limited', message, { retryAfterSeconds }),
  };
}

function limitOf(name: LimitName, rate: number, state: { left: number; seconds: number }): LimitState {
  return { name, quota: rate * burstSeconds, windowSeconds: burstSeconds, ...state };
}

interface LimitState {
  name: string;
  /** Requests per window. */
  quota: number;
  windowSeconds: number;
  left: number;
  /** Seconds until more are available. */
  seconds: number;
}

/** Both header fields, with an item for each limit that applies. */
export function limitHeaders(limits: readonly LimitState[]): RateLimitHeaders {
  const policies = limits.map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`);
  const states = limits.map(({ name, left, seconds }) => `"${name}";r=${Math.max(0, left)};t=${seconds}`);
  return { 'ratelimit-policy': policies.join(', '), ratelimit: states.join(', ') };
}
