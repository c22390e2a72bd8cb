import { randomBase62 } from '../server/src/kit/base62.ts';
import type { Transaction } from '../server/src/kit/db.ts';
import type { SimulatorContext } from './context.ts';
import { insertCallback } from './queries.ts';
import { randomIdLength } from './record-id.ts';
import type { SessionNotification } from './session-notification.ts';
import type { Session } from './session.ts';
import { wireSession } from './wire.ts';

/** A session or a payout, and where its news goes. */
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
  /** The session or the payout, as it was when this happened. */
  data: object;
}

/** A callback's body. */
interface WireNotification {
  /** The same on every delivery of the same news. */
  id: string;
  type: string;
  created_at: string;
  data: object;
}

/**
 * Writes callbacks into the transaction of the change they tell of. Those of the same news share one event id, as a
 * network's repeated deliveries do.
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

/** What is reported of a session. */
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
