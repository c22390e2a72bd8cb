import type { PayoutRequest } from './payout-request.ts';

export type PayoutStatus = 'pending' | 'completed' | 'failed' | 'reversed';

/** The simulated networks' failure codes. */
export type PayoutFailureCode = 'no_such_account' | 'account_blocked' | 'not_permitted' | 'float_empty';

/** The status to which a scenario can plan to change a payout. */
export type PlannedPayoutStatus = 'completed' | 'failed' | 'reversed';

/** A payout at a simulated network, as stored. `payoutAt` gives it at a time. */
export interface Payout extends Omit<PayoutRequest, 'network' | 'clientReference'> {
  id: string;
  network: string;
  /** What the client calls a payout of a batch; null is `reference`. */
  clientReference: string | null;
  fingerprint: string;
  status: PayoutStatus;
  failureCode: PayoutFailureCode | null;
  plannedStatus: PlannedPayoutStatus | null;
  plannedAt: Date | null;
  visibleAt: Date;
  transactionId: string;
  createdAt: Date;
}

/**
 * The payout with its status at a time. A planned change takes effect at its stored time, without a job that applies it.
 */
export function payoutAt(payout: Payout, now: Date): Payout {
  const { plannedStatus, plannedAt } = payout;
  return plannedStatus !== null && plannedAt !== null && plannedAt <= now
    ? { ...payout, status: plannedStatus }
    : payout;
}
