/** Why a person has to decide, in the words that an operator reads. */
export type CaseKind =
  | 'second_success'
  | 'amount_mismatch'
  | 'receipt_reused'
  | 'receipt_contested'
  | 'network_reversal'
  | 'partial_reversal'
  | 'outcome_unknown'
  | 'late_success'
  | 'contradictory_outcome'
  | 'share_without_owner'
  | 'merchant_owes'
  | StatementCaseKind;

/** Where a network's statement differs from our records or our ledger. */
type StatementCaseKind = `statement_${
  | 'missing_here'
  | 'missing_there'
  | 'amount'
  | 'fee'
  | 'status'
  | 'duplicate'
  | 'reversed'
  | 'unknown'}`;

/** The record that a case is about. */
export type CaseSubject = 'charge' | 'transfer' | 'merchant' | 'difference';

export interface NewCase {
  merchantId: string;
  kind: CaseKind;
  subjectType: CaseSubject;
  subjectId: string;
  /** The network's transaction id, another reference, or '': one case is opened for each kind, subject and reference. */
  reference: string;
  /** The network's transaction, where the reference is something else. */
  transactionId?: string;
  amountMinor: bigint;
  currency: string;
  summary: string;
}

export interface Case extends NewCase {
  id: string;
  /** The network's transaction, or the reference where there is none. */
  transactionId: string;
  /** How often the network reported the same again without an id that would distinguish a repetition from a new reversal. */
  reportedAgain: bigint;
  status: 'open' | 'resolved';
  createdAt: Date;
  resolvedAt: Date | null;
  /** The pending proposal, which needs a second operator's confirmation. */
  proposalId: string | null;
  /** How it was resolved. */
  resolution: string | null;
}
