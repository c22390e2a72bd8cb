import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { findProviderTransactionOwner, insertProviderTransactionOnce } from './queries.ts';
import type { ProviderTransactionClaim } from './queries.ts';

/**
 * Claims a network's transaction id for one subject, whichever merchant's. A statement of its own before the booking:
 * the same subject may repeat it, another one is told no.
 */
export async function claimProviderTransaction(
  db: Queryable,
  clock: Clock,
  claim: ProviderTransactionClaim,
): Promise<boolean> {
  if ((await insertProviderTransactionOnce(db, { ...claim, createdAt: clock.now() })) === 1) return true;
  const owner = await findProviderTransactionOwner(db, claim);
  return owner?.merchantId === claim.merchantId && owner.subjectId === claim.subjectId;
}
