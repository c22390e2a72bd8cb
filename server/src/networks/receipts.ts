import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { findReceiptOwner, insertReceiptOnce } from './queries.ts';
import type { ReceiptClaim } from './queries.ts';

/**
 * Claims a network's transaction id for one subject, whichever merchant's. A statement of its own before the booking:
 * the same subject may repeat it, another one is told no.
 */
export async function claimReceipt(db: Queryable, clock: Clock, claim: ReceiptClaim): Promise<boolean> {
  if ((await insertReceiptOnce(db, { ...claim, createdAt: clock.now() })) === 1) return true;
  const owner = await findReceiptOwner(db, claim);
  return owner?.merchantId === claim.merchantId && owner.subjectId === claim.subjectId;
}
