import type { SimulatorContext } from './context.ts';
import type { Move } from './moves.ts';
import { deleteCallbacksToCome, lockSession, updateSession } from './queries.ts';
import { recordKey } from './record-id.ts';
import { sendReports } from './send-news.ts';
import { settled } from './session.ts';
import type { Session } from './session.ts';

export interface Change {
  /** After the move, or as it was where there was none. */
  session: Session;
  moved: boolean;
}

/**
 * Applies one move to a session, with the reports that go with it. `decide` gets the session as time has made it and
 * answers undefined to leave it. Undefined for a session that is not there, or not to be seen yet.
 */
export async function changeSession(
  context: SimulatorContext,
  sessionId: string,
  decide: (session: Session, now: Date) => Move | undefined,
): Promise<Change | undefined> {
  const key = recordKey(sessionId);
  if (!key) return undefined;
  return context.db.withTransaction(async (tx) => {
    const stored = await lockSession(tx, key);
    // The time is taken once the row is ours: waiting for another move must not put this one before it.
    const now = context.clock.now();
    if (!stored || stored.visibleAt > now) return undefined;
    const session = settled(stored, now);
    const move = decide(session, now);
    if (!move) return { session, moved: false };
    tx.send(updateSession(move.session));
    if (session.plannedAt !== null && move.session.plannedAt?.getTime() !== session.plannedAt.getTime()) {
      tx.send(deleteCallbacksToCome(session, now));
    }
    sendReports(tx, context, move.session, move.reports);
    return { session: move.session, moved: true };
  });
}
