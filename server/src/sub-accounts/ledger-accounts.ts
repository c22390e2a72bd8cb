import type { Account } from '../ledger/accounts.ts';

/** Where a sub-account's settled money stands, which it can be paid out. */
export function settledAccount(subAccountId: string): `sub:${string}` {
  return `sub:${subAccountId}`;
}

/** Where shares wait for their settlement. */
export function pendingAccount(subAccountId: string): `sub:${string}` {
  return `sub:${subAccountId}:pending`;
}

/** Everything a sub-account has stands on one of these. */
export function balanceAccounts(subAccountId: string): Account[] {
  return [settledAccount(subAccountId), pendingAccount(subAccountId)];
}

/** What a sub-account owes the merchant, who advanced it. */
export function owedAccount(subAccountId: string): `sub_owed:${string}` {
  return `sub_owed:${subAccountId}`;
}

/** Who owes what stands on the account: a sub-account's id, or null where it is no `owedAccount`. */
export function subAccountOwing(account: Account): string | null {
  return account.startsWith('sub_owed:') ? (account.split(':')[1] ?? null) : null;
}

/** Whose money stands on the account: a sub-account's id, or null. */
export function subAccountOn(account: Account): string | null {
  return account.startsWith('sub:') ? (account.split(':')[1] ?? null) : null;
}

/** Where the money of an account that waits goes; null for every other account. */
export function settledOf(account: Account): Account | null {
  if (account === 'payable_pending') return 'payable_available';
  return account.startsWith('sub:') && account.endsWith(':pending')
    ? (account.slice(0, -':pending'.length) as `sub:${string}`)
    : null;
}
