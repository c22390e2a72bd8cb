import { subAccountOn } from '../sub-accounts/ledger-accounts.ts';
import type { Transfer, TransferReview, TransferRoute, TransferStatus } from '../transfers/transfer.ts';

/** What of a charge was given back. Its money goes out by the transfer of the same id. Amounts are bututs. */
export interface Refund {
  merchantId: string;
  id: string;
  chargeId: string;
  intentId: string;
  /** The charge's, as the merchant quotes it. */
  transactionReference: string;
  amountMinor: bigint;
  currency: string;
  /** What shares and the fee gave; the merchant gave the rest. Empty once the money came back. */
  parts: readonly RefundPart[];
  /** The transfer's. */
  transferStatus: TransferStatus;
  route: TransferRoute;
  network: string;
  /** Our reference, the one the network has. */
  reference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  /** What the network brought back of it in parts: the payer does not have that. */
  amountReversedMinor: bigint;
  waitingFor: Transfer['waitingFor'];
  failureCode: string | null;
  failureReason: string | null;
  review: TransferReview | null;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
}

/** What one party gave back: a sub-account its share, or the operator the fee. */
export interface RefundPart {
  account: `sub:${string}` | 'fees';
  amountMinor: bigint;
  /** How much of it the merchant gave in its place, to be repaid by later shares. */
  advancedMinor: bigint;
}

export type RefundStatus = 'pending' | 'completed' | 'failed';

/** What the payer has of it, or is to have. */
export function standingMinor({
  amountMinor,
  amountReversedMinor,
}: Pick<Refund, 'amountMinor' | 'amountReversedMinor'>): bigint {
  return amountMinor - amountReversedMinor;
}

/** What a merchant is told; money that the network brought back was not refunded. */
export function refundStatus(status: TransferStatus): RefundStatus {
  return status === 'pending' || status === 'completed' ? status : 'failed';
}

/** What the merchant gave; below zero where it got back bututs that it had given for others before. */
export function merchantPartMinor(refund: Refund): bigint {
  if (refundStatus(refund.transferStatus) === 'failed') return 0n;
  return refund.parts.reduce((rest, part) => rest - part.amountMinor, standingMinor(refund));
}

/** Whose part it is; null for the fee. */
export function subAccountOf({ account }: RefundPart): string | null {
  return subAccountOn(account);
}
