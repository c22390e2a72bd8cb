import type { SimulatorContext } from './context.ts';
import type { Transition } from './transitions.ts';
import { deleteFutureCallbacks, lockSession, updateSession } from './queries.ts';
import { recordKey } from './record-id.ts';
import { enqueueSessionNotifications } from './enqueue-notifications.ts';
import { sessionAt } from './session.ts';
import type { Session } from './session.ts';

export interface SessionChange {
  /** After the move, or as it was where there was none. */
  session: Session;
  isApplied: boolean;
}

/**
 * Applies one move to a session, with the reports that go with it. `decide` gets the session as time has made it and
 * answers undefined to leave it. Undefined for a session that is not there, or not to be seen yet.
 */
export async function changeSession(
  context: SimulatorContext,
  sessionId: string,
  decide: (session: Session, now: Date) => Transition | undefined,
): Promise<SessionChange | undefined> {
  const key = recordKey(sessionId);
  if (!key) return undefined;
  return context.db.withTransaction(async (tx) => {
    const stored = await lockSession(tx, key);
    // The time is taken once the row is ours: waiting for another move must not put this one before it.
    const now = context.clock.now();
    if (!stored || stored.visibleAt > now) return undefined;
    const session = sessionAt(stored, now);
    const transition = decide(session, now);
    if (!transition) return { session, isApplied: false };
    tx.send(updateSession(transition.session));
    if (session.plannedAt !== null && transition.session.plannedAt?.getTime() !== session.plannedAt.getTime()) {
      tx.send(deleteFutureCallbacks(session, now));
    }
    enqueueSessionNotifications(tx, context, transition.session, transition.notifications);
    return { session: transition.session, isApplied: true };
  });
}
