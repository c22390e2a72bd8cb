import { randomBase62 } from '../server/src/kit/base62.ts';
import type { Transaction } from '../server/src/kit/db.ts';
import type { SimulatorContext } from './context.ts';
import { insertCallback } from './queries.ts';
import { randomIdLength } from './record-id.ts';
import type { SessionNotification } from './session-notification.ts';
import type { Session } from './session.ts';
import { wireSession } from './wire.ts';

/** A session or payout, and the URL for its notifications. */
export interface NotificationSubject {
  account: string;
  id: string;
  network: string;
  callbackUrl: string;
}

export interface SimulatorNotification {
  type: string;
  occursAt: Date;
  dueAt: Date;
  /** The session or payout at the time of the event. */
  data: object;
}

/** The body of a callback. */
interface WireNotification {
  /** The same on every delivery of a notification. */
  id: string;
  type: string;
  created_at: string;
  data: object;
}

/**
 * Writes callbacks in the transaction of the change that they report. Callbacks of the same type share one event id, like
 * repeated deliveries of a real network.
 */
export function enqueueNotifications(
  tx: Transaction,
  context: SimulatorContext,
  subject: NotificationSubject,
  notifications: SimulatorNotification[],
): void {
  const eventIds = new Map<string, string>();
  for (const { type, occursAt, dueAt, data } of notifications) {
    const eventId = eventIds.get(type) ?? `evt_${randomBase62(context.random, randomIdLength)}`;
    eventIds.set(type, eventId);
    const notification: WireNotification = { id: eventId, type, created_at: occursAt.toISOString(), data };
    tx.send(
      insertCallback({
        account: subject.account,
        subjectId: subject.id,
        id: randomBase62(context.random, randomIdLength),
        url: subject.callbackUrl,
        network: subject.network,
        body: JSON.stringify(notification),
        occursAt,
        dueAt,
      }),
    );
  }
  const now = context.clock.now();
  if (notifications.some(({ dueAt }) => dueAt <= now)) tx.afterCommit(context.notifySender);
}

/** Writes the callbacks of a session. */
export function enqueueSessionNotifications(
  tx: Transaction,
  context: SimulatorContext,
  session: Session,
  sessionNotifications: SessionNotification[],
): void {
  const notifications = sessionNotifications.map(({ type, status, occursAt, dueAt }) => {
    return { type, occursAt, dueAt, data: wireSession(session, status, context.publicUrl()) };
  });
  enqueueNotifications(tx, context, session, notifications);
}
