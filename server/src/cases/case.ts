/** What a rule may not decide by itself, in the words an operator reads. */
export type CaseKind =
  | 'second_success'
  | 'amount_mismatch'
  | 'receipt_reused'
  | 'network_reversal'
  | 'partial_reversal'
  | 'outcome_unknown'
  | 'late_success'
  | 'contradictory_outcome'
  | 'share_without_owner'
  | 'merchant_owes';

/** The record that a case is about. */
export type CaseSubject = 'charge' | 'transfer' | 'merchant';

export interface NewCase {
  merchantId: string;
  kind: CaseKind;
  subjectType: CaseSubject;
  subjectId: string;
  /** The network's transaction id, another reference, or '' where there is none: the same thing opens one case only. */
  reference: string;
  /** The network's transaction, where the reference is something else. */
  transactionId?: string;
  amountMinor: bigint;
  currency: string;
  summary: string;
}

export interface Case extends NewCase {
  id: string;
  /** The network's transaction that it is about, or the reference where there is none. */
  transactionId: string;
  /** How often the network reported the same again with nothing that tells a repetition from something new. */
  reportedAgain: bigint;
  status: 'open' | 'resolved';
  createdAt: Date;
  resolvedAt: Date | null;
  /** The proposal that waits for a second operator. */
  proposalId: string | null;
  /** How it was resolved. */
  resolution: string | null;
}
