import type { SessionStatus } from './session.ts';

type SessionNotificationType =
  | 'collection.opened'
  | 'collection.completed'
  | 'collection.failed'
  | 'collection.reversed';

/** A notification for the merchant's callback URL, before it is rendered as JSON. */
export interface SessionNotification {
  type: SessionNotificationType;
  /** The status that it reports, which may be older than the session's. */
  status: SessionStatus;
  occursAt: Date;
  dueAt: Date;
}

export function completedNotification(time: Date): SessionNotification {
  return { type: 'collection.completed', status: 'complete', occursAt: time, dueAt: time };
}

export function failedNotification(time: Date): SessionNotification {
  return { type: 'collection.failed', status: 'failed', occursAt: time, dueAt: time };
}

export function reversedNotification(time: Date): SessionNotification {
  return { type: 'collection.reversed', status: 'reversed', occursAt: time, dueAt: time };
}
