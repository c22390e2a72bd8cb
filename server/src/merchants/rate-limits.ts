import type { Queryable } from '../kit/db.ts';
import type { MerchantRateLimits } from './merchant.ts';
import { updateRateLimits } from './queries/rate-limits.ts';

/** Changes the limits that are given. Processes remember a merchant for three seconds; after that they hold everywhere. */
export async function setRateLimits(
  db: Queryable,
  merchantId: string,
  limits: Partial<MerchantRateLimits>,
): Promise<void> {
  await db.run(updateRateLimits(merchantId, limits));
}
