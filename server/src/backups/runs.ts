import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { insertBackupRun } from './queries.ts';
import type { BackupRun } from './queries.ts';

export { listNewestRuns } from './queries.ts';
export type { BackupRun } from './queries.ts';

/** Stores that a backup or a drill has ended. */
export function recordBackupRun(
  tx: Transaction,
  { clock, newId }: { clock: Clock; newId: () => string },
  run: Omit<BackupRun, 'id' | 'finishedAt'>,
): void {
  tx.send(insertBackupRun({ ...run, id: newId(), finishedAt: clock.now() }));
}
