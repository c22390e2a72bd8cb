import type { CollectionFee, TransferFees } from './fees.ts';
import type { MerchantRateLimits } from './rate-limits.ts';
import type { ReserveRule } from './reserve.ts';
import type { TransferLimits } from './rules.ts';

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

/** Public tokens start with the short id: the part before it finds the merchant without a look-up by value. */
export const shortIdLength = 8;

/** The short id at the head of a public token or reference, or null when the text cannot be one. */
export function shortIdOf(token: string): string | null {
  return /^[0-9A-Za-z]{9,}$/.test(token) ? token.slice(0, shortIdLength) : null;
}
