import { dayMs, type Clock } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { findArchiveFailure, insertBackupRun, listNewestRuns, type BackupRun } from './queries.ts';

export type { BackupRun } from './queries.ts';

/** Stores that a backup or a drill has ended. */
export function recordBackupRun(
  tx: Transaction,
  { clock, newId }: { clock: Clock; newId: () => string },
  run: Omit<BackupRun, 'id' | 'finishedAt'>,
): void {
  tx.send(insertBackupRun({ ...run, id: newId(), finishedAt: clock.now() }));
}

/** What an operator has to know about backups. */
export interface BackupState {
  backup: BackupRun | undefined;
  drill: BackupRun | undefined;
  /** When the log could last not be archived; null while it can, or where nothing archives it. */
  archiveFailedAt: Date | null;
}

export async function readBackupState(db: Queryable): Promise<BackupState> {
  const runs = await listNewestRuns(db);
  const newest = (kind: BackupRun['kind']) => runs.find((run) => run.kind === kind);
  return { backup: newest('backup'), drill: newest('drill'), archiveFailedAt: await findArchiveFailure(db) };
}

/** From when on a person is needed: a nightly backup and half a day, a weekly drill and a day. */
export const backupLimits = { backupMs: 1.5 * dayMs, drillMs: 8 * dayMs } as const;

/** What is wrong, in sentences with what they are about; empty where all is well. `isExpected`: BACKUP_DIR is set. */
export function backupProblems(
  { backup, drill, archiveFailedAt }: BackupState,
  { now, isExpected }: { now: Date; isExpected: boolean },
): { text: string; since: Date }[] {
  const old = (run: BackupRun | undefined, limitMs: number, text: string) => {
    if (run === undefined) return isExpected ? [{ text: `${text} yet`, since: now }] : [];
    const isOld = now.getTime() - run.finishedAt.getTime() > limitMs;
    return isOld ? [{ text: `${text} since ${run.finishedAt.toISOString()}`, since: run.finishedAt }] : [];
  };
  return [
    ...(archiveFailedAt ? [{ text: 'The database’s log is not archived', since: archiveFailedAt }] : []),
    ...(drill && drill.problem !== null
      ? [{ text: `The last try of a backup failed: ${drill.problem}`, since: drill.finishedAt }]
      : []),
    ...old(backup, backupLimits.backupMs, 'No backup was made'),
    ...old(drill, backupLimits.drillMs, 'No backup was tried'),
  ];
}
