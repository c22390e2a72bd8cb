import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Case, CaseKind, CaseSubject } from './case.ts';

/** What the network told the operator of money, where a resolution needs it. */
export interface ReportedMoney {
  transactionId: string;
  /** Bututs, above 0. */
  amountMinor: bigint;
}

/**
 * One way to resolve one kind of case about one kind of record. Whoever owns the records offers it; this part knows
 * who may decide, and writes down what they decided.
 */
export interface CaseResolver {
  subjectType: CaseSubject;
  kind: CaseKind;
  /** As it is typed: `accept`. */
  resolution: string;
  /** What it does to the money, in a line. */
  effect: string;
  /** Whether the proposal must name the network's transaction and its amount. */
  needsMoney: boolean;
  /** Why it cannot be done as things stand, in a sentence; null when it can. */
  refusal(found: Case): Promise<string | null>;
  /**
   * What has to come before the transaction: the merchant, a receipt to be claimed. Answers what is done in it, which
   * locks the record, looks again whether it can still be done (throwing AppError `state_conflict`), and books.
   */
  prepare(found: Case, reported: ReportedMoney | null): Promise<CarryOut>;
}

/** May run again when the transaction is repeated. The case itself is closed afterwards. */
export type CarryOut = (tx: Transaction, confirmation: Confirmation) => Promise<void>;

/** A proposal that a second operator has confirmed. */
export interface Confirmation {
  found: Case;
  proposal: ResolutionStep;
  operatorId: string;
}

/** Something that an operator did about a case. Rows of these are only added. */
export interface ResolutionStep {
  merchantId: string;
  caseId: string;
  id: string;
  step: 'proposed' | 'withdrawn' | 'confirmed' | 'closed';
  /** The proposal that it is about; its own id on a proposal. */
  proposalId: string;
  resolution: string;
  /** What the network said, with a reference and a date. Null on steps that add nothing to the proposal. */
  evidence: string | null;
  transactionId: string | null;
  amountMinor: bigint | null;
  operatorId: string;
  createdAt: Date;
}

/** A way that is open for a case, or why it is not. */
export interface Choice {
  resolution: string;
  effect: string;
  needsMoney: boolean;
  refusal: string | null;
}

/** Throws AppError `state_conflict` with the sentence that says why a case cannot be resolved so, where there is one. */
export function refuseWhere(refusal: string | null): void {
  if (refusal !== null) throw new AppError('state_conflict', refusal);
}
