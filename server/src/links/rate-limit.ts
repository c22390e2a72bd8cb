import type { Queryable } from '../kit/db.ts';
import { listLinkRowsWithRateLimit, updateLinkRateLimit } from './queries.ts';
import type { PaymentLink } from './payment-link.ts';

// Far more than an operator sets one by one.
const shownMax = 500;

/** Sets how many new payments a second its page takes: 0 is no limit, null takes the merchant's. A deleted one keeps what it had. */
export async function setLinkRateLimit(
  db: Queryable,
  link: Pick<PaymentLink, 'merchantId' | 'id'>,
  paymentsPerSecond: bigint | null,
): Promise<void> {
  await updateLinkRateLimit(db, link, paymentsPerSecond);
}

/** A merchant's links that have a rate limit of their own, oldest first. */
export function listLinksWithRateLimit(db: Queryable, merchantId: string): Promise<PaymentLink[]> {
  return listLinkRowsWithRateLimit(db, merchantId, shownMax);
}
