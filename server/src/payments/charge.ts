import type { FailureCode, NetworkHandles, NextAction } from '../networks/contract.ts';
import { least } from '../kit/money.ts';
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
  /** What the network took back of what came, in parts that a person booked; a charge that is `reversed` has nothing left. */
  amountReversedMinor: bigint;
  /** What of its money repaid the merchant's debt when it was booked, in bututs; what happens later does not change it. */
  debtRepaidMinor: bigint;
  eventSequence: bigint;
  paidAt: Date | null;
  /** When its money can be paid out: at once where it is null, else once `settledAt` is set. */
  settlesAt: Date | null;
  settledAt: Date | null;
  /** The part that is kept in reserve until `settlesAt`; the rest waits for the settlement delay only. 0 is no reserve. */
  reservePercentHundredths: bigint;
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

export function canChargeBecome(currentStatus: ChargeStatus, nextStatus: ChargeStatus): boolean {
  return moves[currentStatus].includes(nextStatus);
}

/** What really came, once anything has; before that, what is asked for. */
export function receivedMinor(charge: Pick<Charge, 'amountReceivedMinor' | 'amountPaidMinor'>): bigint {
  return charge.amountReceivedMinor ?? charge.amountPaidMinor;
}

/** What is left with us of what came, before refunds: what the network took back in parts is gone. */
export function remainingMinor(
  charge: Pick<Charge, 'amountReceivedMinor' | 'amountPaidMinor' | 'amountReversedMinor'>,
): bigint {
  return receivedMinor(charge) - charge.amountReversedMinor;
}

/** Whether all of its money can be paid out. */
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
export function partsOf(
  charge: Pick<Charge, 'feeMinor'>,
  shares: readonly Share[],
  receivedAmountMinor: bigint,
): ChargeParts {
  let left = receivedAmountMinor;
  const take = (dueMinor: bigint): bigint => {
    const taken = least(dueMinor, left);
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

/** What the one division gives to each beyond the other. */
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
 * Who gives how much of `takenMinor` that the network takes back of what is left: fee and shares in proportion to what
 * came, rounded down over all that was taken so far, so that each has given its own when nothing is left, give or take a
 * few bututs. The merchant gives the rest. All parts together are what is taken.
 */
export function clawbackParts(charge: Charge, shares: readonly Share[], reversedMinor: bigint): ChargeParts {
  const received = receivedMinor(charge);
  const receivedParts = partsOf(charge, shares, received);
  const before = charge.amountReversedMinor;
  const next = (wholeMinor: bigint): bigint =>
    (wholeMinor * (before + reversedMinor)) / received - (wholeMinor * before) / received;
  // Where the merchant gave bututs for others before, these would give more than is taken: they give at most that.
  let leftMinor = reversedMinor;
  const give = (wholeMinor: bigint): bigint => {
    const givenMinor = least(next(wholeMinor), leftMinor);
    leftMinor -= givenMinor;
    return givenMinor;
  };
  const feeMinor = give(receivedParts.feeMinor);
  const shareParts = receivedParts.shares.map((share) => ({ ...share, amountMinor: give(share.amountMinor) }));
  return { feeMinor, shares: shareParts, merchantMinor: leftMinor };
}

/** How much of a part of its money is kept in reserve, rounded up to a butut. */
export function reserveMinor(
  { reservePercentHundredths }: Pick<Charge, 'reservePercentHundredths'>,
  amountMinor: bigint,
): bigint {
  const whole = 10_000n;
  return (amountMinor * reservePercentHundredths + whole - 1n) / whole;
}
