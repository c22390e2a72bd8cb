import type { Clock } from '../kit/clock.ts';
import type { Random } from '../kit/random.ts';
import type { MerchantAppearance } from './appearance.ts';
import type { CollectionFee, TransferFees } from './fees.ts';
import type { ReserveRule, TransferLimits } from './rules.ts';
import type { UrlDefaults } from './url-defaults.ts';

/**
 * One business in one environment: the tenant that every row belongs to. On the wire its id is `account_id`, the
 * business's `business_id`.
 */
export interface Merchant extends MerchantRateLimits, MerchantAppearance, UrlDefaults {
  id: string;
  businessId: string;
  /** Leads every public token and reference of this merchant. */
  shortId: string;
  name: string;
  testMode: boolean;
  currency: string;
  /** Resolved from the merchant's own rules and the operator's defaults. */
  collectionFee: CollectionFee;
  transferFees: TransferFees;
  transferLimits: TransferLimits;
  /** Which part of its payments is held for some time; null is none. */
  reserve: ReserveRule | null;
  /** When its logo was set; null is none. */
  logoSetAt: Date | null;
  /** Since when the operator lets its business take no new payments; null is not at all. */
  suspendedAt: Date | null;
  /** Since when the operator lets its business take real money; null is not yet. */
  liveApprovedAt: Date | null;
  createdAt: Date;
}

/** What creating businesses and API keys needs. */
export interface MerchantContext {
  clock: Clock;
  random: Random;
  newId: () => string;
  /** `KEY_PEPPER`: API keys are stored hashed with it. */
  pepper: Uint8Array;
}

/** A merchant's own rate limits; null is the server's setting. */
export interface MerchantRateLimits {
  /** API requests per second, all keys together; 0 is no limit. Setting `RATE_LIMIT_LIVE` or `RATE_LIMIT_TEST`. */
  rateLimitPerSecond: bigint | null;
  /** The percentage of that rate for one of several keys, 1 to 100; 100 is no limit. Setting `RATE_LIMIT_KEY_PERCENT`. */
  rateLimitKeyPercent: bigint | null;
  /** New payments per second from each link and each virtual terminal; 0 is no limit. Setting `RATE_LIMIT_PAGES`. */
  rateLimitPages: bigint | null;
}

/** When sub-accounts are paid out automatically: never, every UTC day, or every week from Monday. */
export type PayoutSchedule = 'manual' | 'daily' | 'weekly';

/** Every public token starts with its merchant's short id. */
export const shortIdLength = 8;

/** The short id at the head of a public token or reference, or null when the text cannot be one. */
export function shortIdOf(token: string): string | null {
  return /^[0-9A-Za-z]{9,}$/.test(token) ? token.slice(0, shortIdLength) : null;
}
