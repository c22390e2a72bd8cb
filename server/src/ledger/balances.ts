import type { Database, Queryable, Transaction } from '../kit/db.ts';
import type { Account, MerchantCurrency } from './accounts.ts';
import { changesByAccount, lockBalance } from './post.ts';
import { listAccountsToFold, listMovementsOfTransaction, sumBalances, sumBySources } from './queries.ts';

export { sumSuspense } from './queries.ts';

/** The balances of several accounts in bututs, in one snapshot; an account without movements has 0. */
export async function readBalances<Requested extends Account>(
  db: Queryable,
  query: MerchantCurrency & { accounts: readonly Requested[] },
): Promise<ReadonlyMap<Requested, bigint>> {
  const balances = new Map<Account, bigint>(query.accounts.map((account) => [account, 0n]));
  if (query.accounts.length > 0) {
    for (const { account, balance } of await sumBalances(db, query)) balances.set(account, BigInt(balance));
  }
  return balances as Map<Requested, bigint>;
}

/** The net effect of several sources together on each account, in bututs: credited less debited, without zeros. */
export async function netEffectOf(
  db: Queryable,
  query: MerchantCurrency & { sourceIds: readonly string[] },
): Promise<Map<Account, bigint>> {
  const rows = await sumBySources(db, query);
  return new Map(rows.map(({ account, netEffect }) => [account, BigInt(netEffect)]));
}

// With fewer, folding costs more than adding up the rows when the balance is read.
const deltasWorthFolding = 200;
const accountsMax = 500;

/** Folds accounts with many deltas, so that reading and locking a balance stay cheap. Returns how many. */
export async function foldBalances(db: Database): Promise<number> {
  const accounts = await listAccountsToFold(db, deltasWorthFolding, accountsMax);
  for (const account of accounts) await db.withTransaction((tx) => lockBalance(tx, account));
  return accounts.length;
}

/** A balance before and after what a transaction booked, in bututs as the account counts them. */
export interface BalanceChange {
  account: Account;
  beforeMinor: bigint;
  afterMinor: bigint;
}

/** What the transaction itself has changed for a merchant. `sinceId` is an id that was made before it booked anything. */
export async function changesOfTransaction(
  tx: Transaction,
  { sinceId, ...merchant }: MerchantCurrency & { sinceId: string },
): Promise<BalanceChange[]> {
  const movements = await listMovementsOfTransaction(tx, { merchantId: merchant.merchantId, sinceId });
  const changes = [...changesByAccount(movements)].filter(([, changeMinor]) => changeMinor !== 0n);
  const balances = await readBalances(tx, { ...merchant, accounts: changes.map(([account]) => account) });
  return changes.map(([account, changeMinor]) => {
    const afterMinor = balances.get(account) ?? 0n;
    return { account, beforeMinor: afterMinor - changeMinor, afterMinor };
  });
}
