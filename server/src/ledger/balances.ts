import type { Database, Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { lockBalance } from './post.ts';
import { listAccountsToFold, sumBalances } from './queries.ts';

export { sumSuspense } from './queries.ts';

/** Several accounts' balances in bututs, as of one moment; every account that was asked for is there. */
export async function readBalances<Asked extends Account>(
  db: Queryable,
  at: { merchantId: string; currency: string; accounts: readonly Asked[] },
): Promise<ReadonlyMap<Asked, bigint>> {
  const balances = new Map<Account, bigint>(at.accounts.map((account) => [account, 0n]));
  if (at.accounts.length === 0) return balances as Map<Asked, bigint>;
  for (const { account, balance } of await sumBalances(db, at)) balances.set(account, BigInt(balance));
  return balances as Map<Asked, bigint>;
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
