import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Account } from '../ledger/accounts.ts';
import { found } from './manage-sub-accounts.ts';
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
export function markSubAccountDeleted(
  tx: Transaction,
  subAccount: { merchantId: string; id: string },
  deletedAt: Date,
): void {
  tx.send(markDeleted(subAccount, deletedAt));
}

/**
 * Which of these have been deleted; none of the others is before the transaction ends. Asked before anything is booked
 * to a sub-account whose payment or transfer was made earlier.
 */
export async function lockDeleted(
  tx: Transaction,
  merchantId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await lockSubAccountsForShares(tx, merchantId, ids);
  return new Set(rows.filter(({ deletedAt }) => deletedAt !== null).map(({ id }) => id));
}

/**
 * Where money of a sub-account is booked: on its own account, or in `suspense` where it has been deleted, because nobody
 * could ever take what stands on its account. What comes to stand in `suspense` needs a case.
 */
export function creditOrSuspend(deleted: ReadonlySet<string>, subAccountId: string, own: Account): Account {
  return deleted.has(subAccountId) ? 'suspense' : own;
}
