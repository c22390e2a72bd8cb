import type { Account } from '../ledger/accounts.ts';

/** A sub-account's settled money, which can be paid out. */
export function settledAccount(subAccountId: string): `sub:${string}` {
  return `sub:${subAccountId}`;
}

/** A sub-account's shares that are not settled yet. */
export function pendingAccount(subAccountId: string): `sub:${string}` {
  return `sub:${subAccountId}:pending`;
}

/** The accounts that make up a sub-account's balance. */
export function balanceAccounts(subAccountId: string): Account[] {
  return [settledAccount(subAccountId), pendingAccount(subAccountId)];
}

/** What a sub-account owes the merchant for advances. */
export function owedAccount(subAccountId: string): `sub_owed:${string}` {
  return `sub_owed:${subAccountId}`;
}

/** The id of the sub-account whose debt the account holds; null for every other account. */
export function subAccountOwing(account: Account): string | null {
  return account.startsWith('sub_owed:') ? (account.split(':')[1] ?? null) : null;
}

/** The id of the sub-account whose money the account holds; null for every other account. */
export function subAccountOn(account: Account): string | null {
  return account.startsWith('sub:') ? (account.split(':')[1] ?? null) : null;
}

/** The settled account of a pending one; null for every other account. */
export function settledOf(account: Account): Account | null {
  if (account === 'payable_pending') return 'payable_available';
  return account.startsWith('sub:') && account.endsWith(':pending')
    ? (account.slice(0, -':pending'.length) as `sub:${string}`)
    : null;
}
