import type { FailureCode, NetworkHandles, NextAction } from '../networks/contract.ts';
import { least, wholePercent } from '../kit/money.ts';
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
  /** What the payer is asked to pay. */
  amountPaidMinor: bigint;
  /** What was received where that is another amount: while it is under review, and when a person accepted it; else null. */
  amountReceivedMinor: bigint | null;
  currency: string;
  network: string;
  /** The account that collects it; null on a charge of a release that had one for each network. */
  railAccount: string | null;
  /** Whether the payer sends the money straight to the merchant's own number, so that it is in no balance. */
  receivedDirectly: boolean;
  /** As the merchant or payer sent it; null for none. */
  accountNumber: string | null;
  /** E.164 in the new numbering, for matching and for the network. */
  accountCanonical: string | null;
  /** Our reference at the network; begins with the merchant's short id. */
  reference: string;
  transactionReference: string;
  networkReference: string | null;
  networkTransactionId: string | null;
  networkHandles: NetworkHandles | null;
  nextAction: NextAction | null;
  progress: ChargeProgress;
  /** When the payer left it, with its outcome open, to use another number or network; null if the payer went back to it. */
  abandonedAt: Date | null;
  failureCode: ChargeFailureCode | null;
  failureReason: string | null;
  review: Review | null;
  late: boolean;
  amountRefundedMinor: bigint;
  /** What the network reversed in parts, which a person booked; nothing is left of a charge that is `reversed`. */
  amountReversedMinor: bigint;
  /** What repaid the merchant's debt when the charge was booked; what happens later does not change it. */
  debtRepaidMinor: bigint;
  eventSequence: bigint;
  paidAt: Date | null;
  /** When its money can be paid out: at once where null, else once `settledAt` is set. */
  settlesAt: Date | null;
  settledAt: Date | null;
  /** The percentage in reserve until `settlesAt`; the rest waits for the settlement delay only. 0 is no reserve. */
  reservePercentHundredths: bigint;
  createdAt: Date;
  updatedAt: Date;
}

/** Why an attempt failed: a network's refusal, or what an operator found out or did. */
export type ChargeFailureCode = FailureCode | 'money_returned' | 'not_paid';

export type ChargeStatus = 'pending' | 'completed' | 'failed' | 'cancelled' | 'refunded' | 'reversed';

/**
 * How far the attempt is at the network. `submitted` is stored before the call, so that a call whose response was lost is
 * looked up and never repeated; `unknown` means that no response was understood.
 */
export type ChargeProgress = 'created' | 'submitted' | 'awaiting_payer' | 'unknown' | 'final';

/** The allowed moves: a refusal may be overtaken by a verified success, a success only by a refund or a reversal. */
const moves: Record<ChargeStatus, readonly ChargeStatus[]> = {
  pending: ['completed', 'failed', 'cancelled'],
  failed: ['completed'],
  cancelled: ['completed'],
  completed: ['refunded', 'reversed'],
  // `completed` again when the network returns a refund.
  refunded: ['completed', 'reversed'],
  reversed: [],
};

export function canChargeBecome(currentStatus: ChargeStatus, nextStatus: ChargeStatus): boolean {
  return moves[currentStatus].includes(nextStatus);
}

/**
 * Whether the payer has left it while its outcome is open. This is the one exception to the rule that an intent has at most
 * one open attempt: an abandoned one may be open beside it. Its success pays the payment; however else it ends, it ends alone.
 */
export function isOpenAbandoned({ status, abandonedAt }: Pick<Charge, 'status' | 'abandonedAt'>): boolean {
  return status === 'pending' && abandonedAt !== null;
}

/** What the payer has to do for an attempt: nothing once it has ended, or the payer has left it. */
export function openAction({ status, abandonedAt, nextAction }: Charge): NextAction | null {
  return status === 'pending' && abandonedAt === null ? nextAction : null;
}

/** A refund leaves what the network collected as it was: the charge can still be reversed. */
export function isPaid({ status }: Pick<Charge, 'status'>): boolean {
  return status === 'completed' || status === 'refunded';
}

/** Whether a network has reported money of it that it may still reverse: the charge's own, or what is held for review. */
export function holdsMoney(charge: Pick<Charge, 'status' | 'networkTransactionId'>): boolean {
  return isPaid(charge) || (charge.networkTransactionId !== null && charge.status !== 'reversed');
}

/** Whether money is what the payer was asked to pay. */
export function isRequestedAmount(
  charge: Pick<Charge, 'amountPaidMinor' | 'currency'>,
  { amountMinor, currency }: { amountMinor: bigint; currency: string },
): boolean {
  return amountMinor === charge.amountPaidMinor && currency === charge.currency;
}

/** The amount received; before anything was received, the amount requested. */
export function receivedMinor(charge: Pick<Charge, 'amountReceivedMinor' | 'amountPaidMinor'>): bigint {
  return charge.amountReceivedMinor ?? charge.amountPaidMinor;
}

/** What is left of the amount received after partial reversals, before refunds. */
export function remainingMinor(
  charge: Pick<Charge, 'amountReceivedMinor' | 'amountPaidMinor' | 'amountReversedMinor'>,
): bigint {
  return receivedMinor(charge) - charge.amountReversedMinor;
}

/** Whether all its money can be paid out. */
export function isSettled({ settlesAt, settledAt }: Pick<Charge, 'settlesAt' | 'settledAt'>): boolean {
  return settlesAt === null || settledAt !== null;
}

/** Who gets which part of a charge's money, in bututs. */
export interface ChargeParts {
  feeMinor: bigint;
  /** One for each share of the split, in the split's order. */
  shares: Share[];
  merchantMinor: bigint;
}

/** Divides received money: fee and shares as far as it goes, the rest to the merchant. */
export function partsOf(
  charge: Pick<Charge, 'feeMinor'>,
  shares: readonly Share[],
  receivedAmountMinor: bigint,
): ChargeParts {
  let left = receivedAmountMinor;
  const take = (dueMinor: bigint): bigint => {
    const partMinor = least(dueMinor, left);
    left -= partMinor;
    return partMinor;
  };
  const feeMinor = take(charge.feeMinor);
  return {
    feeMinor,
    shares: shares.map((share) => ({ ...share, amountMinor: take(share.amountMinor) })),
    merchantMinor: left,
  };
}

/** What each recipient gets more by the one division than by the other. */
export function difference(more: ChargeParts, less: ChargeParts): ChargeParts {
  return {
    feeMinor: more.feeMinor - less.feeMinor,
    shares: more.shares.map((share, index) => ({
      ...share,
      amountMinor: share.amountMinor - (less.shares[index]?.amountMinor ?? 0n),
    })),
    merchantMinor: more.merchantMinor - less.merchantMinor,
  };
}

/**
 * Divides a partial reversal of `reversedMinor` bututs: charged back to fee and shares in proportion, rounded down over all
 * that was reversed so far, so that each has given its whole part, give or take a few bututs, when nothing is left. The
 * merchant gives the rest. The parts add up to `reversedMinor`.
 */
export function clawbackParts(charge: Charge, shares: readonly Share[], reversedMinor: bigint): ChargeParts {
  const received = receivedMinor(charge);
  const receivedParts = partsOf(charge, shares, received);
  const before = charge.amountReversedMinor;
  const next = (wholeMinor: bigint): bigint =>
    (wholeMinor * (before + reversedMinor)) / received - (wholeMinor * before) / received;
  // Where the merchant gave bututs for others before, theirs would add up to more than is reversed.
  let leftMinor = reversedMinor;
  const chargeBack = (wholeMinor: bigint): bigint => {
    const partMinor = least(next(wholeMinor), leftMinor);
    leftMinor -= partMinor;
    return partMinor;
  };
  const feeMinor = chargeBack(receivedParts.feeMinor);
  const shareParts = receivedParts.shares.map((share) => ({ ...share, amountMinor: chargeBack(share.amountMinor) }));
  return { feeMinor, shares: shareParts, merchantMinor: leftMinor };
}

/** How much of an amount is held in reserve, in bututs, rounded up. */
export function reserveMinor(
  { reservePercentHundredths }: Pick<Charge, 'reservePercentHundredths'>,
  amountMinor: bigint,
): bigint {
  return (amountMinor * reservePercentHundredths + wholePercent - 1n) / wholePercent;
}
