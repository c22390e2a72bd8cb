import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { found } from './find-sub-account.ts';
import { findGroupOf, lockSubAccountForDeletion, lockSubAccountsForShares, markDeleted } from './queries.ts';
import type { SubAccount } from './sub-account.ts';

// What a deletion needs of this part. Whether a sub-account may be deleted depends on payments and payouts too, so
// that is decided above.

/**
 * Waits for payments and groups that are attaching the sub-account, and makes later ones wait: what is found to use it
 * after this is all there is. Throws AppError `not_found`.
 */
export async function lockSubAccount(tx: Transaction, merchantId: string, id: string): Promise<SubAccount> {
  return found(isUuid(id) ? await lockSubAccountForDeletion(tx, merchantId, id) : undefined);
}

/** A group that contains the sub-account, or undefined. */
export function groupThatContains(
  tx: Transaction,
  merchantId: string,
  id: string,
): Promise<{ id: string; name: string } | undefined> {
  return findGroupOf(tx, merchantId, id);
}

/** From the commit on it answers 404; its history stays. The caller holds its lock. */
export function markSubAccountDeleted(tx: Transaction, subAccount: { merchantId: string; id: string }, at: Date): void {
  tx.send(markDeleted(subAccount, at));
}

/** Which of these have been deleted; none of the others is before the transaction ends. */
export async function lockDeleted(
  tx: Transaction,
  merchantId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await lockSubAccountsForShares(tx, merchantId, ids);
  return new Set(rows.filter(({ deletedAt }) => deletedAt !== null).map(({ id }) => id));
}
