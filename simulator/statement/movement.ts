/** Money that moved in a merchant's wallet at a simulated network: a line of its statement. */
export interface Movement {
  /** Unique in the wallet. */
  id: string;
  kind: 'collection' | 'payout' | 'refund';
  /** Whether the network took the money back, or returned it. */
  isReversal: boolean;
  /** Above zero for money that came in. */
  amountMinor: bigint;
  /** The wallet's balance afterwards. */
  balanceMinor: bigint;
  currency: string;
  /** The payer's or beneficiary's; null for a link that was paid without one. */
  number: string | null;
  /** The session that was paid, or whose payment is refunded; else the payout. */
  subjectId: string;
  reference: string;
  at: Date;
}

export interface MovementQuery {
  account: string;
  network: string;
  /** From this time, and before the other. */
  from: Date;
  before: Date;
  /** The last movement of the page before. */
  after: Pick<Movement, 'at' | 'id'> | null;
  rowsMax: number;
}
