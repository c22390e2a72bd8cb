import type { Transaction } from '../kit/db.ts';
import type { Account } from '../ledger/accounts.ts';
import { lockSubAccountsForShares } from './queries.ts';

/**
 * Returns which of these sub-accounts are deleted, and locks the others against deletion until the transaction ends. Call
 * it before you book money to a sub-account whose payment or transfer was made earlier.
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
 * The account to credit for a sub-account: its own, or `suspense` where it is deleted, because its own can no longer be paid
 * out. Each credit to `suspense` needs a case.
 */
export function creditOrSuspend(deleted: ReadonlySet<string>, subAccountId: string, own: Account): Account {
  return deleted.has(subAccountId) ? 'suspense' : own;
}
