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

/** What a merchant is told; money that the network brought back was not refunded. */
export function refundStatus(status: TransferStatus): RefundStatus {
  return status === 'pending' || status === 'completed' ? status : 'failed';
}

/** What the merchant gave; below zero where it got back bututs that it had given for others before. */
export function merchantPartMinor({ amountMinor, parts, transferStatus }: Refund): bigint {
  if (refundStatus(transferStatus) === 'failed') return 0n;
  return parts.reduce((rest, part) => rest - part.amountMinor, amountMinor);
}

/** Whose part it is; null for the fee. */
export function subAccountOf({ account }: RefundPart): string | null {
  return account === 'fees' ? null : account.slice('sub:'.length);
}
