import type { FailureCode, NetworkHandles, NextAction } from '../networks/contract.ts';
import type { FeePayer } from '../merchants/fees.ts';
import type { Share } from '../sub-accounts/shares.ts';
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
  /** What came where it is not what was asked for: while it waits for a person, and when one accepted it; else null. */
  amountReceivedMinor: bigint | null;
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
  failureCode: ChargeFailureCode | null;
  failureReason: string | null;
  review: Review | null;
  late: boolean;
  amountRefundedMinor: bigint;
  eventSequence: bigint;
  paidAt: Date | null;
  /** When its money can be paid out: at once where it is null, else once `settledAt` is set. */
  settlesAt: Date | null;
  settledAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Why an attempt failed: what networks say, and what an operator found out or did. */
export type ChargeFailureCode = FailureCode | 'money_returned' | 'not_paid';

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
  // Back where a network returns what it had given back.
  refunded: ['completed', 'reversed'],
  reversed: [],
};

export function chargeMayBecome(from: ChargeStatus, to: ChargeStatus): boolean {
  return moves[from].includes(to);
}

/** What really came, once anything has; before that, what is asked for. */
export function receivedMinor(charge: Pick<Charge, 'amountReceivedMinor' | 'amountPaidMinor'>): bigint {
  return charge.amountReceivedMinor ?? charge.amountPaidMinor;
}

/** Whether its money can be paid out. */
export function isSettled({ settlesAt, settledAt }: Pick<Charge, 'settlesAt' | 'settledAt'>): boolean {
  return settlesAt === null || settledAt !== null;
}

/** What of money that came is whose, in bututs. */
export interface ChargeParts {
  feeMinor: bigint;
  /** One for each share of the split, in its order. */
  shares: Share[];
  merchantMinor: bigint;
}

/** How money that came is divided: the fee and the shares as far as the money goes; the rest stays with the merchant. */
export function partsOf(charge: Pick<Charge, 'feeMinor'>, shares: readonly Share[], cameMinor: bigint): ChargeParts {
  let left = cameMinor;
  const take = (wantedMinor: bigint): bigint => {
    const taken = wantedMinor < left ? wantedMinor : left;
    left -= taken;
    return taken;
  };
  const feeMinor = take(charge.feeMinor);
  return {
    feeMinor,
    shares: shares.map((share) => ({ ...share, amountMinor: take(share.amountMinor) })),
    merchantMinor: left,
  };
}
