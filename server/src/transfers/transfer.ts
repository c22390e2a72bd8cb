import type { EventKind, JsonRecord } from '../events/kinds.ts';
import { networkQueue } from '../events/outbox.ts';
import type { NewWork } from '../events/work.ts';
import type { Account } from '../ledger/accounts.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { FailureCode, NetworkHandles, UnavailableReason } from '../networks/contract.ts';

/** A transfer: money that leaves a balance for a mobile-money account. Amounts are bututs. */
export interface Transfer {
  merchantId: string;
  id: string;
  kind: TransferKind;
  status: TransferStatus;
  /** What the beneficiary gets. */
  amountMinor: bigint;
  /** Charged on top, and returned with the amount. */
  feeMinor: bigint;
  currency: string;
  network: string;
  /** The account that pays it; null on a transfer of a release that had one for each network. */
  railAccount: string | null;
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
  /** The network's collection that it refunds; of route `network` only. */
  originalReference: string | null;
  /** Our reference, under which the network pays once; leads with the merchant's short id. */
  reference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  /**
   * What the network reversed in parts, or did not pay at all, as a person has booked or accepted it; a transfer that is `reversed`
   * has nothing left.
   */
  amountReversedMinor: bigint;
  networkHandles: NetworkHandles | null;
  progress: TransferProgress;
  /** How often it was handed to the network, always under the one reference. */
  sends: bigint;
  /** When it was last handed to the network. */
  sentAt: Date | null;
  /** Our reference of the batch in which that was; null where it goes alone. */
  batchReference: string | null;
  /** Why it has not been sent yet. */
  waitingFor: UnavailableReason | null;
  failureCode: FailureCode | null;
  failureReason: string | null;
  review: TransferReview | null;
  eventSequence: bigint;
  createdAt: Date;
  updatedAt: Date;
  completedAt: Date | null;
}

/** Who requested it: the merchant, or another part of the service on the merchant's behalf. */
export type TransferKind = 'transfer' | 'sub_account_payout' | 'refund';

/**
 * How the money goes: paid out to a number, or refunded by the network that collected it. `record`: the merchant has returned it, and
 * nothing is sent.
 */
export type TransferRoute = 'payout' | 'network' | 'record';

export type TransferStatus = 'pending' | 'completed' | 'failed' | 'cancelled' | 'reversed';

/**
 * How far the network has come. `created` means that it cannot know of the transfer. `submitted` is written before the
 * call: from then on it may, and only its final response ends the transfer.
 */
export type TransferProgress = 'created' | 'submitted' | 'final';

/** Why a person has to review it. */
export type TransferReview = 'amount_mismatch' | 'receipt_reused' | 'late_success' | 'outcome_unknown';

/**
 * The allowed transitions. A success that is reported after the end is booked and opens a case, but changes no status: a
 * person decides whether the transfer counts as completed.
 */
const transitions: Record<TransferStatus, readonly TransferStatus[]> = {
  pending: ['completed', 'failed', 'cancelled'],
  completed: ['reversed'],
  failed: ['completed'],
  cancelled: ['completed'],
  reversed: [],
};

export function canTransferBecome(currentStatus: TransferStatus, nextStatus: TransferStatus): boolean {
  return transitions[currentStatus].includes(nextStatus);
}

/** What the transfer takes from the balance: the amount and the fee on top. */
export function totalMinor({ amountMinor, feeMinor }: Pick<Transfer, 'amountMinor' | 'feeMinor'>): bigint {
  return amountMinor + feeMinor;
}

/** Whether the network cannot know of it yet, so that it can still be cancelled. */
export function isUnsent({ status, progress }: Pick<Transfer, 'status' | 'progress'>): boolean {
  return status === 'pending' && progress === 'created';
}

/** Whether its outcome is awaited. That of one whose other amount is under review is known. */
export function isUnderWay({ status, progress }: Pick<Transfer, 'status' | 'progress'>): boolean {
  return status === 'pending' && progress !== 'final';
}

export interface LockedTransfer {
  merchant: Merchant;
  transfer: Transfer;
}

interface KindRules {
  /** The event of each change; null where the kind's owner reports it with an event of its own. */
  events: Record<'accepted' | Exclude<TransferStatus, 'pending'>, EventKind | null>;
  /** Whether it counts towards the merchant's limits. */
  isLimited: boolean;
  /** Whether it is refused while the merchant owes: it would be paid with the operator's money. */
  isRefusedInDebt: boolean;
}

/** Where the kinds of transfers differ. */
export const transferKinds: Record<TransferKind, KindRules> = {
  transfer: {
    events: {
      accepted: 'transfer.created',
      completed: 'transfer.succeeded',
      failed: 'transfer.failed',
      cancelled: 'transfer.cancelled',
      reversed: 'transfer.reversed',
    },
    isLimited: true,
    isRefusedInDebt: true,
  },
  // It pays out what belongs to the sub-account.
  sub_account_payout: {
    events: {
      accepted: null,
      completed: 'sub_account.payout.succeeded',
      failed: 'sub_account.payout.failed',
      cancelled: null,
      reversed: 'transfer.reversed',
    },
    isLimited: false,
    isRefusedInDebt: false,
  },
  // Reported by the events of its charge.
  refund: {
    events: { accepted: null, completed: null, failed: null, cancelled: null, reversed: null },
    isLimited: false,
    // It returns what its own payment brought.
    isRefusedInDebt: false,
  },
};

/** The account that a transfer is paid from, and that its money returns to. */
export function ownAccount({ kind, subAccountId }: Pick<Transfer, 'kind' | 'subAccountId'>): Account {
  return kind === 'sub_account_payout' ? `sub:${subAccountId}` : 'payable_available';
}

/** The ledger's source of everything that is booked for a transfer, or for the refund of the same id. */
export function ledgerSource({ merchantId, id, currency }: Pick<Transfer, 'merchantId' | 'id' | 'currency'>) {
  return { merchantId, currency, source: { type: 'transfer', id } };
}

type WorkSubject = Pick<Transfer, 'id' | 'network'>;

/** The work of sending a transfer to its network. */
export function sendWork({ id: merchantId, testMode }: Merchant, { id, network }: WorkSubject): NewWork {
  return { merchantId, queue: networkQueue({ network, testMode }, 'payouts'), kind: 'send_transfer', subjectId: id };
}

/** The work of looking up a transfer's outcome at its network. */
export function lookUpWork({ id: merchantId, testMode }: Merchant, { id, network }: WorkSubject): NewWork {
  const queue = networkQueue({ network, testMode }, 'look-ups');
  return { merchantId, queue, kind: 'look_up_transfer', subjectId: id };
}

/** The work of looking whether its network has reversed a transfer. */
export function recheckWork({ id: merchantId, testMode }: Merchant, { id, network }: WorkSubject): NewWork {
  const queue = networkQueue({ network, testMode }, 'look-ups');
  return { merchantId, queue, kind: 'recheck_transfer', subjectId: id };
}
