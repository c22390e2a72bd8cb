import type { FailureCode, NetworkHandles, NextAction } from '../networks/contract.ts';
import type { FeePayer } from '../merchants/merchant.ts';
import type { Review } from './intent.ts';

/** One attempt to pay an intent; its id is the transaction id. Amounts are bututs. */
export interface Charge {
  merchantId: string;
  id: string;
  intentId: string;
  attempt: bigint;
  status: ChargeStatus;
  amountMinor: bigint;
  feeMinor: bigint;
  feePayer: FeePayer;
  /** What the payer is asked for. */
  amountPaidMinor: bigint;
  currency: string;
  network: string;
  /** As it was sent; empty numbers are null. */
  accountNumber: string | null;
  /** E.164 in the new form, for matching and for the network. */
  accountCanonical: string | null;
  /** Our reference, the only one a network is given; leads with the merchant's short id. */
  reference: string;
  transactionReference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  networkHandles: NetworkHandles | null;
  nextAction: NextAction | null;
  progress: ChargeProgress;
  failureCode: FailureCode | null;
  failureReason: string | null;
  review: Review | null;
  late: boolean;
  amountRefundedMinor: bigint;
  eventSequence: bigint;
  paidAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export type ChargeStatus = 'pending' | 'completed' | 'failed' | 'cancelled' | 'refunded' | 'reversed';

/**
 * How far the network has come. `submitted` is written before the call, so that a call whose answer was lost is looked
 * up and never repeated blindly; `unknown` means no answer that is understood.
 */
export type ChargeProgress = 'created' | 'submitted' | 'awaiting_payer' | 'unknown' | 'final';

/** The allowed moves: a refusal may be overtaken by a verified success, a success only by a refund or a reversal. */
const moves: Record<ChargeStatus, readonly ChargeStatus[]> = {
  pending: ['completed', 'failed', 'cancelled'],
  failed: ['completed'],
  cancelled: ['completed'],
  completed: ['refunded', 'reversed'],
  refunded: ['reversed'],
  reversed: [],
};

export function chargeMayBecome(from: ChargeStatus, to: ChargeStatus): boolean {
  return moves[from].includes(to);
}
