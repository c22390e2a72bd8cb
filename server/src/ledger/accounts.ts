/**
 * The kinds of account a merchant's ledger has (docs/ledger.md, "Accounts"). `side` is the side that makes the
 * balance grow; `guarded` accounts never go below zero, because their money belongs to somebody.
 */
export const accountKinds = {
  float: { side: 'debit', guarded: false },
  payable_pending: { side: 'credit', guarded: true },
  payable_available: { side: 'credit', guarded: true },
  sub: { side: 'credit', guarded: true },
  held: { side: 'credit', guarded: true },
  fees: { side: 'credit', guarded: true },
  network_costs: { side: 'debit', guarded: false },
  suspense: { side: 'credit', guarded: true },
  receivable_merchant: { side: 'debit', guarded: true },
  sub_owed: { side: 'debit', guarded: true },
  due_from_subs: { side: 'credit', guarded: true },
  test_funding: { side: 'debit', guarded: false },
  bank: { side: 'debit', guarded: false },
  capital: { side: 'credit', guarded: false },
  unmatched: { side: 'credit', guarded: true },
  till: { side: 'debit', guarded: true },
  received_directly: { side: 'credit', guarded: true },
} as const satisfies Record<string, { side: 'debit' | 'credit'; guarded: boolean }>;

/** Kinds without deltas: they grow under their lock too, so the stored balance is the whole balance (debt.ts). */
const lockedKinds: readonly string[] = ['receivable_merchant'];

export type AccountKind = keyof typeof accountKinds;

/** An account's name within a merchant and currency: the kind, and a reference where there are several of the kind. */
export type Account = AccountKind | `${AccountKind}:${string}`;

/** Whose ledger: each merchant has one for each currency. */
export interface MerchantCurrency {
  merchantId: string;
  currency: string;
}

export interface AccountKey extends MerchantCurrency {
  account: Account;
}

export function accountKind(account: Account): AccountKind {
  return (account.split(':', 1)[0] ?? account) as AccountKind;
}

/** How a debit of one butut changes the account's balance: +1 where debits make it grow, −1 elsewhere. */
export function debitSign(account: Account): bigint {
  return accountKinds[accountKind(account)].side === 'debit' ? 1n : -1n;
}

export function growsLocked(account: Account): boolean {
  return lockedKinds.includes(accountKind(account));
}

export function isGuarded(account: Account): boolean {
  return accountKinds[accountKind(account)].guarded;
}

/** An open debt. */
export interface OwedRow extends AccountKey {
  amountMinor: bigint;
  /** When the oldest butut that is not repaid was booked: repayments count against the oldest first. */
  since: Date;
}
