import type { CollectionFee, TransferFees } from './fees.ts';
import type { ReserveRule, TransferLimits } from './rules.ts';

/**
 * One business in one environment: the tenant that every row belongs to. On the wire its id is `account_id`, the
 * business's `business_id`.
 */
export interface Merchant extends MerchantRateLimits {
  id: string;
  businessId: string;
  /** Leads every public token and reference of this merchant. */
  shortId: string;
  name: string;
  testMode: boolean;
  currency: string;
  /** What applies to this merchant of its own rules and the operator's defaults. */
  collectionFee: CollectionFee;
  transferFees: TransferFees;
  transferLimits: TransferLimits;
  /** What of its payments is kept back for some time; null is nothing. */
  reserve: ReserveRule | null;
  createdAt: Date;
}

/** Rate limits of a merchant's own; null takes the server's setting. */
export interface MerchantRateLimits {
  /** Requests a second to the API, all keys together; 0 is no limit. Setting `RATE_LIMIT_LIVE` or `RATE_LIMIT_TEST`. */
  rateLimitPerSecond: bigint | null;
  /** How much of that one of several keys may send, 1 to 100; 100 is no limit. Setting `RATE_LIMIT_KEY_PERCENT`. */
  rateLimitKeyPercent: bigint | null;
  /** New payments a second from each link and each counter; 0 is no limit. Setting `RATE_LIMIT_PAGES`. */
  rateLimitPages: bigint | null;
}

/** When sub-accounts are paid out by themselves: never, every UTC day, or every week from Monday on. */
export type PayoutSchedule = 'manual' | 'daily' | 'weekly';

/** Public tokens start with the short id: the part before it finds the merchant without a look-up by value. */
export const shortIdLength = 8;

/** The short id at the head of a public token or reference, or null when the text cannot be one. */
export function shortIdOf(token: string): string | null {
  return /^[0-9A-Za-z]{9,}$/.test(token) ? token.slice(0, shortIdLength) : null;
}
