import { addMs } from '../server/src/kit/clock.ts';
import type { PayoutStatus } from './payouts/payout.ts';
import type { SessionStatus } from './session.ts';

/** A notification for the merchant's callback URL, before a wire renders it. */
export interface Notification<Status> {
  /** The status that it reports, which may be older than the record's. */
  status: Status;
  occursAt: Date;
  dueAt: Date;
}

export type SessionNotification = Notification<Exclude<SessionStatus, 'expired' | 'cancelled'>>;
export type PayoutNotification = Notification<PayoutStatus>;

export function notificationOf<Status extends string>(status: Status, time: Date): Notification<Status> {
  return { status, occursAt: time, dueAt: time };
}

// An interval that makes sure they arrive in this order.
const shuffledIntervalMs = 200;

/** Three successes, and between them the older notification of how it began. */
export function shuffledNotifications<Status extends string>(
  began: Notification<Status>,
  succeeded: Notification<Status>,
): Notification<Status>[] {
  return [succeeded, began, succeeded, succeeded].map((notification, index) => ({
    ...notification,
    dueAt: addMs(succeeded.dueAt, index * shuffledIntervalMs),
  }));
}
