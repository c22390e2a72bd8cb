import type { SessionShape } from './network.ts';

export type SessionStatus = 'open' | 'complete' | 'failed' | 'expired' | 'cancelled' | 'reversed';

/** Why a session failed, in the simulated networks' own words. */
export type SessionFailureCode = 'payer_declined' | 'balance_too_low' | 'wrong_code' | 'not_permitted';

/** What a scenario can hold in store for a session. */
export type PlannedStatus = 'complete' | 'failed' | 'reversed';

/** One collection at a simulated network, as its row says. What it is at a moment is `statusAt`. */
export interface Session {
  account: string;
  id: string;
  network: string;
  reference: string;
  fingerprint: string;
  shape: SessionShape;
  status: SessionStatus;
  failureCode: SessionFailureCode | null;
  plannedStatus: PlannedStatus | null;
  plannedAt: Date | null;
  visibleAt: Date;
  amountMinor: bigint;
  amountPaidMinor: bigint;
  currency: string;
  payerNumber: string | null;
  payerNumberAsSent: string | null;
  description: string;
  returnUrl: string;
  callbackUrl: string;
  code: string | null;
  codeAttemptsLeft: bigint;
  transactionId: string;
  approvedAt: Date | null;
  createdAt: Date;
  expiresAt: Date;
}

export const codeLength = 6;

/**
 * What the session is at a moment. Changes that were planned and the end of its time count from their stored time, so
 * they are true at once whether or not anything ran. A tap that waits for the merchant's confirmation was in time.
 */
export function statusAt(session: Session, now: Date): SessionStatus {
  if (session.plannedStatus !== null && session.plannedAt !== null && session.plannedAt <= now) {
    return session.plannedStatus;
  }
  if (session.status === 'open' && session.approvedAt === null && session.expiresAt <= now) return 'expired';
  return session.status;
}

/** The row with what time has made of it written in, so that a move can start from there. */
export function sessionAt(session: Session, now: Date): Session {
  const status = statusAt(session, now);
  const isPlanDue = session.plannedAt !== null && session.plannedAt <= now;
  return isPlanDue ? { ...session, status, plannedStatus: null, plannedAt: null } : { ...session, status };
}
