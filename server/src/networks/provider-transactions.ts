import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import {
  findProviderTransactionOwner,
  insertProviderTransactionOnce,
  type ProviderTransactionClaim,
} from './queries.ts';

export { deleteProviderTransaction, hasLineOfTransaction } from './queries.ts';

/**
 * Claims a provider transaction for one charge or transfer, across all merchants. Returns true for the same subject however
 * often it claims, and false for every other one. Call it before the transaction that books the money; in it where people decide,
 * so that what they mistype and do not book stays free.
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

/** What a provider transaction has collected for; undefined for none. */
export function findTransactionOwner(
  db: Queryable,
  railAccount: string,
  transactionId: string,
): Promise<{ merchantId: string; subjectId: string } | undefined> {
  return findProviderTransactionOwner(db, { railAccount, transactionId, kind: 'collection' });
}
