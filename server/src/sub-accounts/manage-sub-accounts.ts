import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Caller } from '../kit/route.ts';
import { readBalances } from '../ledger/balances.ts';
import { readAccountNumber, readSettlementCode } from './destination.ts';
import { balanceAccounts, owedAccount } from './ledger-accounts.ts';
import { findSubAccountById, lockSubAccountForChange, insertSubAccount, updateSubAccountRow } from './queries.ts';
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

export interface NewSubAccount {
  name: string;
  percentHundredths: bigint;
  settlementCode: string;
  accountNumber: string;
  /** What leads the fields' names in a refusal. */
  prefix: string;
}

/** Throws AppError `network_not_available` and `account_number_invalid`. */
export function createSubAccount(
  tx: Transaction,
  context: SubAccountContext,
  caller: Caller,
  request: NewSubAccount,
): SubAccount {
  const { prefix } = request;
  const now = context.clock.now();
  const subAccount: SubAccount = {
    merchantId: caller.merchantId,
    id: context.newId(),
    name: request.name,
    percentHundredths: request.percentHundredths,
    ...readSettlementCode(context, caller, { code: request.settlementCode, path: `${prefix}settlement_code` }),
    ...readAccountNumber(caller, { number: request.accountNumber, path: `${prefix}account_number` }),
    active: true,
    createdAt: now,
    updatedAt: now,
  };
  tx.send(insertSubAccount(subAccount));
  return subAccount;
}

/** What is left out stays as it is. */
export interface SubAccountChange {
  name?: string | undefined;
  percentHundredths?: bigint | undefined;
  settlementCode?: string | undefined;
  accountNumber?: string | undefined;
  active?: boolean | undefined;
}

/**
 * For later payments only: the shares of those that exist are fixed on them. A change of nothing leaves everything as it
 * is. Throws AppError `not_found`, `network_not_available` and `account_number_invalid`.
 */
export async function updateSubAccount(
  tx: Transaction,
  context: SubAccountContext,
  caller: Caller,
  request: { id: string; change: SubAccountChange; prefix: string },
): Promise<SubAccount> {
  const { change, prefix } = request;
  const subAccount = await getSubAccountForChange(tx, caller.merchantId, request.id);
  if (Object.values(change).every((value) => value === undefined)) return subAccount;
  const { settlementCode, accountNumber } = change;
  const changed: SubAccount = {
    ...subAccount,
    name: change.name ?? subAccount.name,
    percentHundredths: change.percentHundredths ?? subAccount.percentHundredths,
    active: change.active ?? subAccount.active,
    ...(settlementCode === undefined
      ? {}
      : readSettlementCode(context, caller, { code: settlementCode, path: `${prefix}settlement_code` })),
    ...(accountNumber === undefined
      ? {}
      : readAccountNumber(caller, { number: accountNumber, path: `${prefix}account_number` })),
    updatedAt: context.clock.now(),
  };
  tx.send(updateSubAccountRow(changed));
  return changed;
}
