import type { Queryable } from '../kit/db.ts';
import { updateRateLimits } from './queries/rate-limits.ts';

/** Rate limits of a merchant's own; null takes the server's setting. */
export interface MerchantRateLimits {
  /** Requests a second to the API, all keys together; 0 is no limit. Setting `RATE_LIMIT_LIVE` or `RATE_LIMIT_TEST`. */
  rateLimitPerSecond: bigint | null;
  /** How much of that one of several keys may send, 1 to 100; 100 is no limit. Setting `RATE_LIMIT_KEY_PERCENT`. */
  rateLimitKeyPercent: bigint | null;
  /** New payments a second from each link and each counter; 0 is no limit. Setting `RATE_LIMIT_PAGES`. */
  rateLimitPages: bigint | null;
}

/** Changes the limits that are given. Processes remember a merchant for three seconds; after that they hold everywhere. */
export async function setRateLimits(
  db: Queryable,
  merchantId: string,
  limits: Partial<MerchantRateLimits>,
): Promise<void> {
  await db.run(updateRateLimits(merchantId, limits));
}
