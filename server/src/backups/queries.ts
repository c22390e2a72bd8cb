import type { Queryable, Statement } from '../kit/db.ts';

/** A backup or a drill that has ended. */
export interface BackupRun {
  id: string;
  kind: 'backup' | 'drill';
  backup: string;
  finishedAt: Date;
  seconds: bigint;
  lostSeconds: bigint | null;
  problem: string | null;
}

/** That the database was restored. */
export interface Restore {
  id: string;
  backup: string | null;
  restoredAt: Date;
  restoredTo: Date | null;
}

export function insertBackupRun(run: BackupRun): Statement {
  const { id, kind, backup, finishedAt, seconds, lostSeconds, problem } = run;
  return {
    name: 'backup_runs_insert',
    text: `INSERT INTO backup_runs (id, kind, backup, finished_at, seconds, lost_seconds, problem)
           VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    values: [id, kind, backup, finishedAt, seconds, lostSeconds, problem],
  };
}

/** The newest of each kind. */
export function listNewestRuns(db: Queryable): Promise<BackupRun[]> {
  return db.rows<BackupRun>({
    name: 'backup_runs_newest',
    text: `SELECT DISTINCT ON (kind) id, kind, backup, finished_at AS "finishedAt", seconds,
                  lost_seconds AS "lostSeconds", problem
             FROM backup_runs ORDER BY kind, finished_at DESC`,
    values: [],
  });
}

export function insertRestore({ id, backup, restoredAt, restoredTo }: Restore): Statement {
  return {
    name: 'restores_insert',
    text: 'INSERT INTO restores (id, backup, restored_at, restored_to) VALUES ($1, $2, $3, $4)',
    values: [id, backup, restoredAt, restoredTo],
  };
}

/** The newest restore that nobody has released; undefined where work goes on. */
export function findHeldRestore(db: Queryable): Promise<Restore | undefined> {
  return db.row<Restore>({
    name: 'restores_held',
    text: `SELECT id, backup, restored_at AS "restoredAt", restored_to AS "restoredTo"
             FROM restores WHERE released_at IS NULL ORDER BY restored_at DESC LIMIT 1`,
    values: [],
  });
}

/** Releases all of them: an older one was restored with a newer one's backup. */
export function releaseRestores(releasedAt: Date): Statement {
  return {
    name: 'restores_release',
    text: 'UPDATE restores SET released_at = $1 WHERE released_at IS NULL',
    values: [releasedAt],
  };
}

/** When the server last failed to archive its log, if it has not succeeded since: whoever runs it, and null without an archive. */
export async function findArchiveFailure(db: Queryable): Promise<Date | null> {
  const row = await db.row<{ failedAt: Date | null }>({
    name: 'log_archive_failure',
    text: `SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN last_failed_time END AS "failedAt"
             FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'`,
    values: [],
  });
  return row?.failedAt ?? null;
}
