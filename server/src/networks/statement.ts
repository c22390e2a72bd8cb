import { sanitizeLine } from '../kit/terminal-text.ts';

/** What a line of a network's statement is about, from the view of our account there. */
export type StatementLineKind =
  | 'collection'
  | 'payout'
  | 'refund'
  | 'collection_reversal'
  | 'payout_reversal'
  | 'fee'
  | 'other';

/** One line of a network's statement of our account. Amounts are bututs. */
export interface StatementEntry {
  /** The network's own id of the transaction. */
  transactionId: string;
  kind: StatementLineKind;
  status: 'completed' | 'pending' | 'failed';
  at: Date;
  /** What it changed on the account: below zero where money left. 0 unless it is completed. */
  netMinor: bigint;
  /** What the payer paid, or the beneficiary received. */
  grossMinor: bigint;
  /** What the network kept of a collection or charged on top of a payout; null where the line does not say. */
  feeMinor: bigint | null;
  currency: string;
  /** The account's balance after it; null where the statement has none. */
  balanceMinor: bigint | null;
  /** Our reference; null where the statement does not repeat it. */
  reference: string | null;
  /** Of a reversal: the transaction that it reverses. */
  originalTransactionId: string | null;
  counterpartyNumber: string | null;
  counterpartyName: string | null;
}

const textLengthMax = 200;

/** A text of a line without control characters, of a length that a person reads; null where nothing is left. */
export function readableText(text: string): string | null {
  const clean = sanitizeLine(text).slice(0, textLengthMax).toWellFormed();
  return clean === '' ? null : clean;
}

/** A connector's statement of its account, by API. */
export interface StatementSource {
  /** Whether it has fees that the network reports nowhere else: reconciling books them. */
  readonly hasUnreportedFees?: true;
  /** The lines of a UTC day, page by page: the first with a null cursor, the next with the cursor of the page before. */
  read(request: { day: string; cursor: string | null }): Promise<StatementPage>;
}

export type StatementPage =
  | {
      state: 'page';
      lines: StatementEntry[];
      /** Lines that could not be read, each with the reason. */
      refusals: string[];
      nextCursor: string | null;
    }
  /** No response, or one that is not understood: read the page again later. */
  | { state: 'unknown'; detail: string };
