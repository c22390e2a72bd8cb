import type { AdminClient } from '../database/admin-client.ts';
import type { Statement } from '../kit/db.ts';
import { rowBy, rowsBy, statementBy, valueBy } from '../kit/run-statement.ts';

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
export const listNewestRuns = rowsBy<BackupRun, []>({
  name: 'backup_runs_newest',
  text: `SELECT DISTINCT ON (kind) id, kind, backup, finished_at AS "finishedAt", seconds,
                lost_seconds AS "lostSeconds", problem
           FROM backup_runs ORDER BY kind, finished_at DESC`,
});

export const insertRestore = statementBy<[Restore]>({
  name: 'restores_insert',
  text: 'INSERT INTO restores (id, backup, restored_at, restored_to) VALUES ($1, $2, $3, $4)',
  values: ({ id, backup, restoredAt, restoredTo }) => [id, backup, restoredAt, restoredTo],
});

/** The newest restore that nobody has released; undefined where work goes on. */
export const findHeldRestore = rowBy<Restore, []>({
  name: 'restores_held',
  text: `SELECT id, backup, restored_at AS "restoredAt", restored_to AS "restoredTo"
           FROM restores WHERE released_at IS NULL ORDER BY restored_at DESC LIMIT 1`,
});

/** Releases all of them: an older one was restored with a newer one's backup. */
export const releaseRestores = statementBy<[releasedAt: Date]>({
  name: 'restores_release',
  text: 'UPDATE restores SET released_at = $1 WHERE released_at IS NULL',
});

/**
 * When the server last failed to archive its log, if it has not succeeded since. A command that hangs never fails: where a whole
 * segment waits, and none was archived since `hungSince`, since when that is known. Null without an archive.
 */
export const findArchiveFailure = valueBy<Date | null, [hungSince: Date]>({
  name: 'log_archive_failure',
  // The names are compared behind their timeline; the newest segment is still being filled. Before the first segment, as after a
  // crash, one waits where the server ends it by time.
  text: `SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN last_failed_time
                     WHEN known_since < $1 AND CASE WHEN last_archived_wal ~ '^[0-9A-F]{24}'
                          THEN substr(last_archived_wal, 9, 16) < substr(pg_walfile_name(
                                 pg_current_wal_lsn() - pg_size_bytes(current_setting('wal_segment_size'))), 9)
                          ELSE current_setting('archive_timeout') <> '0' END
                     THEN known_since END AS value
           FROM pg_stat_archiver,
                greatest(last_archived_time, stats_reset, pg_postmaster_start_time()) AS known_since
          WHERE current_setting('archive_mode') <> 'off'`,
  none: null,
});

// Below, statements on a superuser's connection. A backup belongs to the connection, which has to last from start to stop.

/** Whether the server archives its log, and its version. */
export async function readServerFacts(client: AdminClient): Promise<{ isArchiving: boolean; version: string }> {
  const { rows } = await client.query<{ isArchiving: boolean; version: string }>(
    `SELECT current_setting('archive_mode') = 'on' AS "isArchiving", current_setting('server_version') AS version`,
  );
  return only(rows);
}

/** Begins a backup after a checkpoint at once; returns the first segment of the log that it needs. */
export async function startBackup(client: AdminClient, label: string): Promise<string> {
  const { rows } = await client.query<{ segment: string }>(
    'SELECT pg_walfile_name(lsn) AS segment FROM pg_backup_start($1, true) AS lsn',
    [label],
  );
  return only(rows).segment;
}

/** Ends it, once the last segment that it needs is archived; fails after ten minutes, where the archive stands still. */
export async function stopBackup(client: AdminClient): Promise<{ segment: string; label: string }> {
  await client.query("SET statement_timeout = '10min'");
  const { rows } = await client.query<{ segment: string; label: string }>(
    'SELECT pg_walfile_name(lsn) AS segment, labelfile AS label FROM pg_backup_stop(true)',
  );
  return only(rows);
}

/** The commit time of the newest replayed transaction, soon after the replay; null where there was none. */
export async function readReplayedTo(client: AdminClient): Promise<Date | null> {
  const { rows } = await client.query<{ time: Date | null }>('SELECT pg_last_xact_replay_timestamp() AS time');
  return only(rows).time;
}

export async function markRestored(client: AdminClient, restore: Restore): Promise<void> {
  const { text, values } = insertRestore(restore);
  await client.query(text, [...values]);
}

function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('PostgreSQL returned no row');
  return row;
}
