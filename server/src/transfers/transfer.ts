import type { Merchant } from '../merchants/merchant.ts';
import type { JsonRecord } from '../events/kinds.ts';
import type { FailureCode, NetworkHandles, UnavailableReason } from '../networks/contract.ts';

/** One order to pay out. Amounts are bututs. */
export interface Transfer {
  merchantId: string;
  id: string;
  kind: TransferKind;
  status: TransferStatus;
  /** What the beneficiary gets. */
  amountMinor: bigint;
  /** Charged on top, and given back with the amount. */
  feeMinor: bigint;
  currency: string;
  network: string;
  /** As it was sent. */
  accountNumber: string;
  /** E.164 in the new form, for the network. */
  accountCanonical: string;
  beneficiaryName: string | null;
  narration: string | null;
  callbackUrl: string | null;
  metadata: JsonRecord;
  /** Whose balance it pays out; of `sub_account_payout` only. */
  subAccountId: string | null;
  route: TransferRoute;
  /** The network's own transaction that is given back, where the network does it. */
  originalReference: string | null;
  /** Our reference, under which the network pays once; leads with the merchant's short id. */
  reference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  /** What the network gave back of what it paid, in parts that a person booked; one that is `reversed` has nothing left. */
  amountReversedMinor: bigint;
  networkHandles: NetworkHandles | null;
  progress: TransferProgress;
  /** How often it was handed to the network, always under the one reference. */
  sends: bigint;
  /** When it was last handed to the network. */
  sentAt: Date | null;
  /** Why it is not sent just now. */
  waitingFor: UnavailableReason | null;
  failureCode: FailureCode | null;
  failureReason: string | null;
  review: TransferReview | null;
  eventSequence: bigint;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
}

/** Who ordered it: the merchant, or another part of the service on the merchant's behalf. */
export type TransferKind = 'transfer' | 'sub_account_payout' | 'refund';

/** How the money goes: paid out to a number, or given back by the network that had collected it. */
export type TransferRoute = 'payout' | 'network';

export type TransferStatus = 'pending' | 'completed' | 'failed' | 'cancelled' | 'reversed';

/**
 * How far the network has come. `created` means that it cannot know of the order. `submitted` is written before the
 * call: from then on it may, and only its own final word ends the order.
 */
export type TransferProgress = 'created' | 'submitted' | 'final';

/** Why a person has to look at it. */
export type TransferReview = 'amount_mismatch' | 'receipt_reused' | 'late_success' | 'outcome_unknown';

/**
 * The allowed moves. A success that comes after the end is a case and an entry in the ledger, never a move by itself: a
 * person decides whether the transfer counts as completed after all.
 */
const moves: Record<TransferStatus, readonly TransferStatus[]> = {
  pending: ['completed', 'failed', 'cancelled'],
  completed: ['reversed'],
  failed: ['completed'],
  cancelled: ['completed'],
  reversed: [],
};

export function canTransferBecome(currentStatus: TransferStatus, nextStatus: TransferStatus): boolean {
  return moves[currentStatus].includes(nextStatus);
}

/** What the order takes from the balance: the amount and the fee on top. */
export function totalMinor({ amountMinor, feeMinor }: Pick<Transfer, 'amountMinor' | 'feeMinor'>): bigint {
  return amountMinor + feeMinor;
}

/** Whether the network cannot have heard of it, so that it may still be taken back. */
export function isUnsent({ status, progress }: Pick<Transfer, 'status' | 'progress'>): boolean {
  return status === 'pending' && progress === 'created';
}

export interface LockedTransfer {
  merchant: Merchant;
  transfer: Transfer;
}
