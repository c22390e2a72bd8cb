import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Caller } from '../kit/route.ts';
import { readBalances } from '../ledger/balances.ts';
import { balanceAccounts, owedAccount } from './ledger-accounts.ts';
import { findSubAccountById, lockSubAccountForChange } from './queries.ts';
import type { SubAccount, SubAccountContext } from './sub-account.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getSubAccount(db: Queryable, merchantId: string, id: string): Promise<SubAccount> {
  return found(isUuid(id) ? await findSubAccountById(db, merchantId, id) : undefined);
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getSubAccountForChange(tx: Transaction, merchantId: string, id: string): Promise<SubAccount> {
  return found(isUuid(id) ? await lockSubAccountForChange(tx, merchantId, id) : undefined);
}

export interface Balances {
  currency: string;
  /** What the sub-account has, settled or not, in bututs. */
  of(subAccountId: string): bigint;
  /** What it owes the merchant, who advanced it, in bututs. */
  owedBy(subAccountId: string): bigint;
}

/** What the sub-accounts have, by one statement for all of them. */
export async function balancesOf(
  context: Pick<SubAccountContext, 'merchants'>,
  db: Queryable,
  caller: Caller,
  subAccounts: readonly SubAccount[],
): Promise<Balances> {
  const { merchantId } = caller;
  const merchant = await context.merchants.byId(merchantId, db);
  assert(merchant, 'who calls is a merchant');
  const { currency } = merchant;
  const accounts = subAccounts.flatMap(({ id }) => [...balanceAccounts(id), owedAccount(id)]);
  const balances = await readBalances(db, { merchantId, currency, accounts });
  return {
    currency,
    of: (id) => balanceAccounts(id).reduce((total, account) => total + (balances.get(account) ?? 0n), 0n),
    owedBy: (id) => balances.get(owedAccount(id)) ?? 0n,
  };
}

export function found(subAccount: SubAccount | undefined): SubAccount {
  if (subAccount) return subAccount;
  throw new AppError('not_found', 'There is no sub-account with this id in this environment.');
}
