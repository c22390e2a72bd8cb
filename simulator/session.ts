import type { SessionShape } from './network.ts';
import type { StartRequest } from './start-request.ts';

export type SessionStatus = 'open' | 'complete' | 'failed' | 'expired' | 'cancelled' | 'reversed';

/** The simulated networks' failure codes. */
export type SessionFailureCode = 'payer_declined' | 'balance_too_low' | 'wrong_code' | 'not_permitted';

/** The status to which a scenario can plan to change a session. */
export type PlannedStatus = 'complete' | 'failed' | 'reversed';

/** A collection at a simulated network, as stored. `statusAt` gives its status at a time. */
export interface Session extends Omit<StartRequest, 'network'> {
  id: string;
  network: string;
  fingerprint: string;
  shape: SessionShape;
  status: SessionStatus;
  failureCode: SessionFailureCode | null;
  plannedStatus: PlannedStatus | null;
  plannedAt: Date | null;
  visibleAt: Date;
  amountPaidMinor: bigint;
  code: string | null;
  codeAttemptsLeft: bigint;
  transactionId: string;
  approvedAt: Date | null;
  /** When it was paid, or failed, or was cancelled. */
  endedAt: Date | null;
  reversedAt: Date | null;
  createdAt: Date;
}

export const codeLength = 6;
export const codeAttemptsMax = 3;

/**
 * The session's status at a time. Planned changes and the expiry take effect at their stored time, without a job that
 * applies them. A session that was approved in time and waits for the merchant's confirmation does not expire.
 */
export function statusAt(session: Session, now: Date): SessionStatus {
  if (session.plannedStatus !== null && session.plannedAt !== null && session.plannedAt <= now) {
    return session.plannedStatus;
  }
  if (session.status === 'open' && session.approvedAt === null && session.expiresAt <= now) return 'expired';
  return session.status;
}

/** The session with its current status, for the next transition. */
export function sessionAt(session: Session, now: Date): Session {
  const status = statusAt(session, now);
  const { plannedAt } = session;
  if (plannedAt !== null && plannedAt <= now) {
    const times = status === 'reversed' ? { reversedAt: plannedAt } : { endedAt: plannedAt };
    return { ...session, ...times, status, plannedStatus: null, plannedAt: null };
  }
  const hasExpired = status === 'expired' && session.endedAt === null;
  return { ...session, status, ...(hasExpired ? { endedAt: session.expiresAt } : {}) };
}
