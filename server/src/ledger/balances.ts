import type { Database, Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { lockBalance } from './post.ts';
import { listAccountsToFold, sumBalance } from './queries.ts';

/**
 * An account's balance in bututs, as of one moment.
 *
 * @internal
 */
export function readBalance(
  db: Queryable,
  at: { merchantId: string; account: Account; currency: string },
): Promise<bigint> {
  return sumBalance(db, at);
}

// Below this, folding costs more than summing the rows when the balance is read.
const deltasWorthFolding = 200;
const accountsMax = 500;

/** Folds accounts with many deltas, so that reading or spending a balance stays cheap. Answers how many. */
export async function foldBalances(db: Database): Promise<number> {
  const accounts = await listAccountsToFold(db, deltasWorthFolding, accountsMax);
  for (const account of accounts) await db.withTransaction((tx) => lockBalance(tx, account));
  return accounts.length;
}
