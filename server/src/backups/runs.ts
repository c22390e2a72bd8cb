import { addMs, dayMs, minuteMs, type Clock } from '../kit/clock.ts';
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

// A segment ends a minute after a change, and takes seconds.
const archiveHangsAfterMs = 5 * minuteMs;

export async function readBackupState(
  db: Queryable,
  now: Date,
  hangsAfterMs = archiveHangsAfterMs,
): Promise<BackupState> {
  const runs = await listNewestRuns(db);
  const newest = (kind: BackupRun['kind']) => runs.find((run) => run.kind === kind);
  return {
    backup: newest('backup'),
    drill: newest('drill'),
    archiveFailedAt: await findArchiveFailure(db, addMs(now, -hangsAfterMs)),
  };
}

/** From when on a person is needed: a nightly backup and half a day, a weekly drill and a day. */
export const backupLimits = { backupMs: 1.5 * dayMs, drillMs: 8 * dayMs } as const;

/** What is wrong, in sentences, and what to do first; empty where all is well. */
export function backupProblems(
  { backup, drill, archiveFailedAt }: BackupState,
  { now, isExpected }: { now: Date; isExpected: boolean },
): { text: string; remedy: string; since: Date }[] {
  const old = (run: BackupRun | undefined, limitMs: number, { text, remedy }: { text: string; remedy: string }) => {
    if (run === undefined) return isExpected ? [{ text: `${text} yet`, remedy, since: now }] : [];
    const isOld = now.getTime() - run.finishedAt.getTime() > limitMs;
    return isOld ? [{ text: `${text} since ${run.finishedAt.toISOString()}`, remedy, since: run.finishedAt }] : [];
  };
  const drillAgain = 'npm run operator -- backup drill';
  return [
    ...(archiveFailedAt
      ? [{ text: 'The database’s log is not archived', remedy: archiveRemedy, since: archiveFailedAt }]
      : []),
    ...(drill && drill.problem !== null
      ? [{ text: `The last try of a backup failed: ${drill.problem}`, remedy: drillAgain, since: drill.finishedAt }]
      : []),
    ...old(backup, backupLimits.backupMs, { text: 'No backup was made', remedy: 'npm run operator -- backup create' }),
    ...old(drill, backupLimits.drillMs, { text: 'No backup was tried', remedy: drillAgain }),
  ];
}

const archiveRemedy =
  'Look whether the disk of BACKUP_DIR has room and responds; the server’s own log, postgres.log in DATA_DIR, says more';
