import type { Queryable } from '../../kit/db.ts';
import type { MerchantRateLimits } from '../merchant.ts';

/** The columns of `MerchantRateLimits`. */
export const rateLimitColumns = `rate_limit_per_second AS "rateLimitPerSecond",
  rate_limit_key_percent AS "rateLimitKeyPercent", rate_limit_pages AS "rateLimitPages"`;

/** Changes only the given columns, so that two operators do not undo each other's changes. */
export async function setRateLimits(
  db: Queryable,
  merchantId: string,
  limits: Partial<MerchantRateLimits>,
): Promise<void> {
  const { rateLimitPerSecond, rateLimitKeyPercent, rateLimitPages } = limits;
  const values = [rateLimitPerSecond, rateLimitKeyPercent, rateLimitPages];
  await db.run({
    name: 'merchants_update_rate_limits',
    text: `UPDATE merchants
           SET rate_limit_per_second = CASE WHEN $2 THEN $3::bigint ELSE rate_limit_per_second END,
               rate_limit_key_percent = CASE WHEN $4 THEN $5::bigint ELSE rate_limit_key_percent END,
               rate_limit_pages = CASE WHEN $6 THEN $7::bigint ELSE rate_limit_pages END
           WHERE id = $1`,
    values: [merchantId, ...values.flatMap((value) => [value !== undefined, value ?? null])],
  });
}
