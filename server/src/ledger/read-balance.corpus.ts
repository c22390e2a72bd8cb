import type { Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import { readBalances } from './balances.ts';

/** One account's balance in bututs. */
export async function readBalance(
  db: Queryable,
  { account, ...at }: { merchantId: string; account: Account; currency: string },
): Promise<bigint> {
  return (await readBalances(db, { ...at, accounts: [account] })).get(account) ?? 0n;
}
