import { canonicalAccountNumber } from '../api/field-values.ts';
import { fieldError } from '../api/app-error.ts';
import { getterOf } from '../api/get-record.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { Caller } from '../api/route.ts';
import { readBalances } from '../ledger/balances.ts';
import { asApproved, refuseWithoutNetwork, type NetworkRegistry } from '../networks/registry.ts';
import { balanceAccounts, owedAccount } from './ledger-accounts.ts';
import {
  findSubAccountById,
  insertSubAccount,
  lockSubAccountForChange,
  lockSubAccountForDeletion,
  updateSubAccountRow,
} from './queries.ts';
import type { SubAccount, SubAccountContext } from './sub-account.ts';

export { listSubAccountNames, listSubAccountsWithoutNetwork, markSubAccountDeleted } from './queries.ts';

const notFound = 'There is no sub-account with this id in this environment.';

/** Throws AppError `not_found`, also for a deleted one. */
export const getSubAccount = getterOf(findSubAccountById, notFound);
/** The same, locked against changes and deletion until the transaction ends. */
export const getSubAccountForChange = getterOf(lockSubAccountForChange, notFound);
/** The same, after every payment and group that is attaching it; later ones wait. */
export const getSubAccountForDeletion = getterOf(lockSubAccountForDeletion, notFound);

export interface Balances {
  currency: string;
  /** Settled and pending together, in bututs. */
  of(subAccountId: string): bigint;
  /** What it owes the merchant for advances, in bututs. */
  owedBy(subAccountId: string): bigint;
}

/** The sub-accounts' balances and debts, read by one statement. */
export async function balancesOf(
  merchants: SubAccountContext['merchants'],
  db: Queryable,
  merchantId: string,
  subAccounts: readonly SubAccount[],
): Promise<Balances> {
  const merchant = await merchants.byId(merchantId, db);
  assert(merchant, 'the caller is a merchant');
  const { currency } = merchant;
  const accounts = subAccounts.flatMap(({ id }) => [...balanceAccounts(id), owedAccount(id)]);
  const balances = await readBalances(db, { merchantId, currency, accounts });
  return {
    currency,
    of: (id) => balanceAccounts(id).reduce((total, account) => total + (balances.get(account) ?? 0n), 0n),
    owedBy: (id) => balances.get(owedAccount(id)) ?? 0n,
  };
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
    ...readSettlementCode(context.networks, caller, { code: request.settlementCode, path: `${prefix}settlement_code` }),
    ...readAccountNumber(caller, { number: request.accountNumber, path: `${prefix}account_number` }),
    destinationChangedAt: null,
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
 * Changes later payments only: existing ones keep their shares. An empty change changes nothing. Throws AppError
 * `not_found`, `network_not_available` and `account_number_invalid`.
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
  const now = context.clock.now();
  const changed: SubAccount = {
    ...subAccount,
    name: change.name ?? subAccount.name,
    percentHundredths: change.percentHundredths ?? subAccount.percentHundredths,
    active: change.active ?? subAccount.active,
    ...(settlementCode === undefined
      ? {}
      : readSettlementCode(context.networks, caller, { code: settlementCode, path: `${prefix}settlement_code` })),
    ...(accountNumber === undefined
      ? {}
      : readAccountNumber(caller, { number: accountNumber, path: `${prefix}account_number` })),
    updatedAt: now,
  };
  const isRedirected =
    changed.settlementCode !== subAccount.settlementCode || changed.accountCanonical !== subAccount.accountCanonical;
  if (isRedirected) changed.destinationChangedAt = now;
  tx.send(updateSubAccountRow(changed));
  return changed;
}

/** The network of its payouts. Throws AppError `network_not_available` naming `path`. */
function readSettlementCode(
  networks: NetworkRegistry,
  caller: Caller,
  { code, path }: { code: string; path: string },
): Pick<SubAccount, 'settlementCode'> {
  const merchant = asApproved({ id: caller.merchantId, testMode: caller.testMode });
  refuseWithoutNetwork(networks, merchant, path);
  const names = networks.payingOut(merchant).map(({ capabilities }) => capabilities.network);
  if (names.includes(code)) return { settlementCode: code };
  const choices = names.length === 0 ? 'No network pays out in this environment.' : `Choose among ${names.join(', ')}.`;
  throw fieldError('network_not_available', path, `${code} cannot pay out. ${choices}`);
}

/** The account number, in any usual form. Throws AppError `account_number_invalid` naming `path`. */
function readAccountNumber(
  caller: Caller,
  { number, path }: { number: string; path: string },
): Pick<SubAccount, 'accountNumber' | 'accountCanonical'> {
  const accountCanonical = canonicalAccountNumber(number, { strict: !caller.testMode, path });
  return { accountNumber: number, accountCanonical };
}
