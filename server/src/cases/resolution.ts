import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Case, CaseKind, CaseSubject } from './case.ts';

/** Money that the network reported to the operator, where a resolution needs it. */
export interface ReportedMoney {
  transactionId: string;
  /** Bututs, above 0. */
  amountMinor: bigint;
}

/**
 * One resolution for one kind of case and record. The part that owns the records implements it; this part enforces who may
 * decide, and records the decision.
 */
export interface CaseResolver {
  subjectType: CaseSubject;
  kind: CaseKind;
  /** As the operator types it: `accept`. */
  resolution: string;
  /** What it does with the money, in a line. */
  effect: string;
  /** Whether the proposal must name the network's transaction and its amount. */
  needsMoney: boolean;
  /** Why it is not possible now, in a sentence; null when it is. */
  refusal(found: Case): Promise<string | null>;
  /**
   * Runs before the transaction: reads the merchant. Returns the work of the transaction, which locks the record, checks again
   * whether it is possible (throwing AppError `state_conflict`), claims a provider transaction that the proposal names, and books.
   */
  prepare(found: Case, reported: ReportedMoney | null): Promise<CarryOut>;
}

/** May run again when the transaction is retried. The case is closed afterwards. */
export type CarryOut = (tx: Transaction, confirmation: Confirmation) => Promise<void>;

/** A proposal that a second operator has confirmed. */
export interface Confirmation {
  found: Case;
  proposal: ResolutionStep;
  operatorId: string;
}

/** A step in the history of a case. Rows are only added. */
export interface ResolutionStep {
  merchantId: string;
  caseId: string;
  id: string;
  step: 'proposed' | 'withdrawn' | 'confirmed' | 'closed';
  /** The proposal of the step; on a proposal, its own id. */
  proposalId: string;
  resolution: string;
  /** The network's statement, with a reference and a date. Null on steps that add nothing to the proposal. */
  evidence: string | null;
  transactionId: string | null;
  amountMinor: bigint | null;
  operatorId: string;
  createdAt: Date;
}

/** A resolution of a case, and why it is not possible now. */
export interface Choice {
  resolution: string;
  effect: string;
  needsMoney: boolean;
  refusal: string | null;
}

/** Throws AppError `state_conflict` with the reason why a resolution is not possible, unless it is null. */
export function throwIfRefused(refusal: string | null): void {
  if (refusal !== null) throw new AppError('state_conflict', refusal);
}
