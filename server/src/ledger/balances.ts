import type { Database, Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { lockBalance } from './post.ts';
import { listAccountsToFold, sumBalance } from './queries.ts';

/** An account's balance in bututs, as of one moment. */
export function readBalance(
  db: Queryable,
  at: { merchantId: string; account: Account; currency: string },
): Promise<bigint> {
  return sumBalance(db, at);
}

// Below this, folding costs more than summing the rows when the balance is read.
const deltasWorthFolding = 200;

/** Folds the long tails of a merchant's accounts, so that reading or spending a balance stays cheap. */
export async function foldBalances(db: Database, merchantId: string): Promise<number> {
  const accounts = await listAccountsToFold(db, merchantId, deltasWorthFolding);
  for (const { account, currency } of accounts) {
    await db.withTransaction((tx) => lockBalance(tx, { merchantId, account, currency }));
  }
  return accounts.length;
}
