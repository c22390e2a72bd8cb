import type { PaymentContext } from '../payments/context.ts';
import { subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { Transfer, TransferReview, TransferRoute, TransferStatus } from '../transfers/transfer.ts';

/** A refund changes a payment and is sent as a transfer. */
export type RefundContext = PaymentContext & TransferContext;

/** The refund of a charge, whole or in part. The transfer of the same id sends its money. Amounts are bututs. */
export interface Refund {
  merchantId: string;
  id: string;
  chargeId: string;
  intentId: string;
  /** The charge's. */
  transactionReference: string;
  amountMinor: bigint;
  currency: string;
  /** What shares and the fee give; the merchant gives the rest. Empty once the refund has failed or was reversed. */
  parts: readonly RefundPart[];
  /** The transfer's. */
  transferStatus: TransferStatus;
  route: TransferRoute;
  network: string;
  /** The payer's, as it was sent. */
  accountNumber: string;
  /** Our reference, as sent to the network. */
  reference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  /** What the network reversed in parts: the payer does not have it. */
  amountReversedMinor: bigint;
  waitingFor: Transfer['waitingFor'];
  failureCode: string | null;
  failureReason: string | null;
  review: TransferReview | null;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
}

/** The part of one party: a sub-account's of its share, or the operator's of the fee. */
export interface RefundPart {
  account: `sub:${string}` | 'fees';
  amountMinor: bigint;
  /** What of it the merchant advances, to be repaid by later shares. */
  advancedMinor: bigint;
}

export type RefundStatus = 'pending' | 'completed' | 'failed';

/** What the payer gets: the amount less what the network reversed. */
export function netRefundMinor({
  amountMinor,
  amountReversedMinor,
}: Pick<Refund, 'amountMinor' | 'amountReversedMinor'>): bigint {
  return amountMinor - amountReversedMinor;
}

/** The status that the API shows; a refund that the network reversed has failed. */
export function refundStatus(status: TransferStatus): RefundStatus {
  return status === 'pending' || status === 'completed' ? status : 'failed';
}

/** The merchant's part; below zero where shares return rounding differences that the merchant had covered. */
export function merchantPartMinor(refund: Refund): bigint {
  if (refundStatus(refund.transferStatus) === 'failed') return 0n;
  return refund.parts.reduce((rest, part) => rest - part.amountMinor, netRefundMinor(refund));
}

/** The sub-account that gives a part; null for the fee. */
export function subAccountOf({ account }: RefundPart): string | null {
  return subAccountOn(account);
}
