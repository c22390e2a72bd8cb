export type PayoutStatus = 'pending' | 'completed' | 'failed' | 'reversed';

/** Why a payout failed, in the simulated networks' own words. */
export type PayoutFailureCode = 'no_such_account' | 'account_blocked' | 'not_permitted';

/** What a scenario can hold in store for a payout. */
export type PlannedPayoutStatus = 'completed' | 'failed' | 'reversed';

/** One payout at a simulated network, as its row says. What it is at a moment is `payoutAt`. */
export interface Payout {
  account: string;
  id: string;
  network: string;
  reference: string;
  fingerprint: string;
  status: PayoutStatus;
  failureCode: PayoutFailureCode | null;
  plannedStatus: PlannedPayoutStatus | null;
  plannedAt: Date | null;
  visibleAt: Date;
  amountMinor: bigint;
  currency: string;
  beneficiaryNumber: string;
  beneficiaryNumberAsSent: string;
  beneficiaryName: string | null;
  description: string;
  callbackUrl: string;
  transactionId: string;
  /** The network's transaction that it gives back; null for a payout. */
  refundedTransactionId: string | null;
  createdAt: Date;
}

/**
 * The payout with the status that it has at a moment. A change that was planned counts from its stored time, so it is
 * true at once whether or not anything ran.
 */
export function payoutAt(payout: Payout, now: Date): Payout {
  const { plannedStatus, plannedAt } = payout;
  return plannedStatus !== null && plannedAt !== null && plannedAt <= now
    ? { ...payout, status: plannedStatus }
    : payout;
}
