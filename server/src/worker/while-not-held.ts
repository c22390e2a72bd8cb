import type { RestoreHold } from '../backups/hold.ts';
import type { WorkQueue } from './worker.ts';

/** The queue, whose work stays due while the database is a restored copy that nobody has released. */
export function whileNotHeld(queue: WorkQueue, hold: RestoreHold): WorkQueue {
  return {
    ...queue,
    listDueKeys: async () => ((await hold.held()) ? [] : queue.listDueKeys()),
    run: async (key, stopped) => {
      if ((await hold.held()) === null) await queue.run(key, stopped);
    },
  };
}
