import { addMs } from '../server/src/kit/clock.ts';
import { notificationOf, type SessionNotification } from './notification.ts';
import { lateSuccessAfterMs } from './scenarios.ts';
import type { Session } from './session.ts';

/** A changed session and the notifications of the change. */
export interface Transition {
  session: Session;
  notifications: SessionNotification[];
}

/** What you can do with a session on the simulated phone. `approve_late` produces late and second successes. */
export type PhoneAction = 'approve' | 'decline' | 'approve_late' | 'reverse';

// The real network confirms every half hour, which is too long for a test.
const autoConfirmAfterMs = 30_000;

/**
 * Like all transitions here, it takes a session in its current state (`sessionAt`) and returns undefined if the transition
 * is not allowed.
 */
export function phoneTransition(
  session: Session,
  { action, code }: { action: PhoneAction; code: string },
  now: Date,
): Transition | undefined {
  if (!phoneActions(session).includes(action)) return undefined;
  switch (action) {
    case 'approve':
      if (session.code !== null) return codeTransition(session, code, now);
      return session.shape === 'push_then_confirm' ? approveUnconfirmed(session, now) : complete(session, now);
    case 'approve_late':
      return complete(session, now);
    case 'decline':
      return fail({ ...session, failureCode: 'payer_declined' }, now);
    case 'reverse':
      return {
        session: withoutPlan({ ...session, status: 'reversed', reversedAt: now }),
        notifications: [notificationOf('reversed', now)],
      };
  }
}

/** The actions that the simulated phone offers for a session in its current state. */
export function phoneActions(session: Session): PhoneAction[] {
  switch (session.status) {
    case 'open':
      if (session.approvedAt !== null) return [];
      // The payer approves by entering the code on the payment page.
      return session.shape === 'code' ? ['decline'] : ['approve', 'decline'];
    case 'complete':
      return ['reverse'];
    case 'failed':
    case 'expired':
    case 'cancelled':
      return ['approve_late'];
    case 'reversed':
      return [];
  }
}

/** The merchant confirms; it has an effect only after the payer has approved on the phone. */
export function confirmTransition(session: Session, now: Date): Transition | undefined {
  return session.status === 'open' && session.approvedAt !== null ? complete(session, now) : undefined;
}

/**
 * The merchant cancels. A success that the scenario has planned still happens: it stands for a payer who was faster than the
 * cancellation. A payer who is late by plan is late after this end.
 */
export function cancelTransition(session: Session, now: Date): Transition | undefined {
  if (session.status !== 'open') return undefined;
  const cancelled: Session = { ...session, status: 'cancelled', endedAt: now };
  if (session.plannedStatus === 'complete' && session.plannedAt !== null && session.plannedAt > session.expiresAt) {
    const plannedAt = addMs(now, lateSuccessAfterMs);
    return { session: { ...cancelled, plannedAt }, notifications: [notificationOf('complete', plannedAt)] };
  }
  return { session: session.approvedAt === null ? cancelled : withoutPlan(cancelled), notifications: [] };
}

/** The payer entered a code; the last wrong one fails the session. */
export function codeTransition(session: Session, code: string, now: Date): Transition | undefined {
  if (session.status !== 'open' || session.code === null) return undefined;
  if (code === session.code) return complete(session, now);
  const codeAttemptsLeft = session.codeAttemptsLeft - 1n;
  if (codeAttemptsLeft > 0n) return { session: { ...session, codeAttemptsLeft }, notifications: [] };
  return fail({ ...session, codeAttemptsLeft, failureCode: 'wrong_code' }, now);
}

function approveUnconfirmed(session: Session, now: Date): Transition {
  const plannedAt = addMs(now, autoConfirmAfterMs);
  return {
    session: { ...session, approvedAt: now, plannedStatus: 'complete', plannedAt },
    notifications: [notificationOf('complete', plannedAt)],
  };
}

function complete(session: Session, now: Date): Transition {
  return {
    session: withoutPlan({ ...session, status: 'complete', failureCode: null, endedAt: now }),
    notifications: [notificationOf('complete', now)],
  };
}

function fail(session: Session, now: Date): Transition {
  return {
    session: withoutPlan({ ...session, status: 'failed', endedAt: now }),
    notifications: [notificationOf('failed', now)],
  };
}

function withoutPlan(session: Session): Session {
  return { ...session, plannedStatus: null, plannedAt: null };
}
