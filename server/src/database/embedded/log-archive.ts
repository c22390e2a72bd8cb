import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartError } from '../../kit/start-error.ts';
import { clusterDirectoryIn } from './cluster.ts';
import { createPrivateFile, openDataDirectory } from './data-directory.ts';
import { findClosedDirectory, findServerAccount } from './server-account.ts';

// What may be lost with the machine: the server archives an unfinished segment after this time.
const archiveTimeoutSeconds = 60;
const idFile = 'log-archive.id';

/**
 * The directory into which the server archives its log, created if it is missing; the server's account writes there itself. It
 * belongs to one data directory: a restored copy, whose log goes on differently, needs another one.
 *
 * @throws StartError when that account cannot get there, or it is another database's.
 */
export function openLogArchive(backupDirectory: string, dataDirectory: string): string {
  if (process.platform === 'win32') throw new StartError('BACKUP_DIR needs a Unix system; set DATABASE_URL instead.');
  const path = join(resolve(backupDirectory), 'wal');
  const account = findServerAccount(clusterDirectoryIn(dataDirectory));
  // Both directories hold the same random text; a backup does not contain it.
  const id = readOrCreate(join(dataDirectory, idFile), randomUUID());
  let claimedBy: string;
  try {
    openDataDirectory(backupDirectory);
    openDataDirectory(path);
    if (account) chownSync(path, account.uid, account.gid);
    claimedBy = readOrCreate(join(backupDirectory, idFile), id);
  } catch (error) {
    throw new StartError(`BACKUP_DIR ${backupDirectory} cannot be used (${String(error)}).`, { cause: error });
  }
  if (claimedBy !== id) {
    throw new StartError(
      `BACKUP_DIR ${backupDirectory} has the backups of another database, or of the one that this copy was restored from; choose a new directory.`,
    );
  }
  const closed = account && findClosedDirectory(path, account);
  if (account && closed !== undefined) {
    throw new StartError(
      `The database's user ${account.name} may not enter ${closed}, where BACKUP_DIR is; allow it (chmod o+x), or choose another directory.`,
    );
  }
  return realpathSync(path);
}

/** What the file holds. A start on a full disk writes nothing, so that full backups stop no payments. */
function readOrCreate(path: string, content: string): string {
  if (!existsSync(path)) createPrivateFile(path, content);
  return readFileSync(path, 'utf8');
}

/** Settings with which the server archives each segment of its log, compressed: most of a segment is empty. */
export function archiveSettings(directory: string): Record<string, string | number> {
  return {
    archive_mode: 'on',
    archive_timeout: archiveTimeoutSeconds,
    wal_level: 'replica',
    archive_command: archiveCommand(directory),
  };
}

/**
 * Synced before it gets its name, and never overwritten: an archive that has another content belongs to another database. A
 * repetition after a crash finds what it has written, and succeeds.
 */
function archiveCommand(directory: string): string {
  const quoted = `'${directory.replaceAll("'", String.raw`'\''`).replaceAll('%', '%%')}'`;
  return [
    `d=${quoted}; f="$d/%f.gz"; umask 077`,
    'if [ -f "$f" ]; then gunzip -c "$f" | cmp -s - "%p"',
    'else gzip -1 -c "%p" >"$f.new" && sync "$f.new" && mv "$f.new" "$f" && sync "$d"; fi',
  ].join('; ');
}

/** Settings with which a restored server replays the log that lies in its own directory, compressed. */
export function replaySettings(directory: string, until: Date | null): Record<string, string> {
  return {
    // Otherwise the server would count as ready while it still replays.
    hot_standby: 'off',
    // A status above 125 ends the replay: the server would take a segment that it cannot unpack, as on a full disk, for the log's end.
    restore_command: `[ -f "${directory}/%f.gz" ] && { gunzip -c "${directory}/%f.gz" >"%p" || exit 255; }`,
    // PostgreSQL does not know the name of a zone, Z included, when it reads this.
    ...(until && { recovery_target_time: until.toISOString().replace('Z', '+00'), recovery_target_action: 'promote' }),
  };
}
