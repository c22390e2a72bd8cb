import type { EventContext } from '../../server/src/events/append-event.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase, type Database } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { startNotifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createPlanner } from '../../server/src/app/contexts.ts';
import { workTopic } from '../../server/src/app/work-queues.ts';

/** For a process that commits changes with their outbox work, which a service beside it does. */
export interface Changes {
  db: Database;
  /** Notifies the service's workers after the commit, through the database. */
  context: EventContext;
  close(): Promise<void>;
}

export async function openChanges(appUrl: string, connectionsMax: number): Promise<Changes> {
  const onError = (error: unknown): void => console.error(error);
  const db = openDatabase({ url: appUrl, connectionsMax, clock: systemClock, onConnectionError: onError });
  const notifier = await startNotifier({ db, clock: systemClock, onError });
  const planner = createPlanner({ notifier, clock: systemClock, random: systemRandom });
  return {
    db,
    context: {
      clock: systemClock,
      newId: () => uuidV7(systemClock, systemRandom),
      notifyWorker: (work) => notifier.notify(workTopic(work)),
      planDeliveries: (tx, event) => planner.plan(tx, event),
    },
    close: async () => {
      await notifier.close();
      await db.close();
    },
  };
}
