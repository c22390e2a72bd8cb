import type { Account, MerchantCurrency } from './accounts.ts';

/** Debits one account and credits another with `amountMinor` bututs (above 0): balanced by construction. */
export interface Movement {
  debit: Account;
  credit: Account;
  amountMinor: bigint;
  /** The movement's flow, where it differs from the posting's. */
  flow?: string;
}

/** Movements that are booked together. */
export interface Posting extends MerchantCurrency {
  /** The flow that moves the money, as docs/ledger.md names it: `collected`, `reversed`, … */
  flow: string;
  /** The record that the money moves for. */
  source: { type: string; id: string };
  movements: readonly Movement[];
  at: Date;
}

export interface LedgerContext {
  newId: () => string;
}

/** The record that money is held for; it has one hold. */
export type HoldSource = Pick<Posting, 'merchantId' | 'currency' | 'source' | 'at'>;

export interface Part {
  account: Account;
  /** In bututs; 0 is left out. */
  amountMinor: bigint;
}
