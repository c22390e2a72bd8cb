import type { Account } from './accounts.ts';

/** Moves `amountMinor` bututs (above 0) from the credited to the debited side: balanced by construction. */
export interface Movement {
  debit: Account;
  credit: Account;
  amountMinor: bigint;
  /** The rule that moves it, where it is another than the posting's. */
  flow?: string;
}

export interface Posting {
  merchantId: string;
  currency: string;
  /** The rule that moves the money, as docs/ledger.md names it: `collected`, `reversed`, … */
  flow: string;
  source: { type: string; id: string };
  movements: readonly Movement[];
  at: Date;
}

export interface LedgerContext {
  newId: () => string;
}

/** Whose money is held: one hold for each source. */
export type HoldSource = Pick<Posting, 'merchantId' | 'currency' | 'source' | 'at'>;

export interface Part {
  account: Account;
  /** In bututs; 0 is left out. */
  amountMinor: bigint;
}
