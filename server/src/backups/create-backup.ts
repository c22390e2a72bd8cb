import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Dirent,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { withAdminClient } from '../database/admin-client.ts';
import { clusterDirectoryIn } from '../database/embedded/cluster.ts';
import { findLiveOwner, lockDataDirectory } from '../database/embedded/data-directory-lock.ts';
import { syncDirectory, writePrivateFile } from '../database/embedded/data-directory.ts';
import { openLogArchive } from '../database/embedded/log-archive.ts';
import type { Clock } from '../kit/clock.ts';
import { errorCode, StartError } from '../kit/start-error.ts';
import { copyFile } from './copy-file.ts';
import { explainFullDisk } from './explain-full-disk.ts';
import {
  backupPaths,
  hashOf,
  listBackups,
  manifestPath,
  readWholeManifest,
  serializeManifest,
  unfinishedPrefix,
  type Manifest,
} from './manifest.ts';
import { readServerFacts, startBackup, stopBackup } from './queries.ts';

interface BackupOptions {
  backupDirectory: string;
  dataDirectory: string;
  /** Of the running server, as its superuser. */
  adminUrl: string;
  /** How many backups stay. */
  keep: number;
  clock: Clock;
  onProgress: (bytes: number, total: number) => void;
}

export interface BackupResult {
  manifest: Manifest;
  bytes: number;
  /** The backups that were deleted, because newer ones suffice. */
  removed: string[];
}

// Contents that a server makes anew, as PostgreSQL's documentation lists them ("Backing Up The Data Directory").
const emptied = new Set([
  ...['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'],
]);
const omitted = /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*|backup_label.*|\.s\.PGSQL.*)$/;
const nameForm = /^\d{8}T\d{6}-\d{3}Z$/;
const controlFile = join('global', 'pg_control');

/**
 * Copies the running server's files between `pg_backup_start` and `pg_backup_stop`, and waits until the log that the copy needs is
 * archived. The backup gets its name when it is complete and synced; what a killed command left is removed by the next.
 */
export function createBackup(options: BackupOptions): Promise<BackupResult> {
  const { backupDirectory } = options;
  const full = `No space is left in ${backupDirectory}: no backup was made, and no older one was deleted.`;
  return explainFullDisk(full, () => create(options));
}

async function create(options: BackupOptions): Promise<BackupResult> {
  const { backupDirectory, clock } = options;
  openLogArchive(backupDirectory, options.dataDirectory);
  const { base } = backupPaths(backupDirectory);
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const owner = findLiveOwner(base);
  if (owner !== undefined)
    throw new StartError(`Process ${owner} is making a backup in ${backupDirectory}; wait for it.`);
  const lock = await lockDataDirectory(base, clock);
  try {
    removeRemains(backupDirectory);
    const draft = join(base, `${unfinishedPrefix}${process.pid}`);
    mkdirSync(draft, { mode: 0o700 });
    try {
      const manifest = await fill(draft, options);
      syncDirectory(draft);
      renameSync(draft, join(base, manifest.name));
      syncDirectory(base);
      const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
      return { manifest, bytes, removed: removeOld(options, manifest.name) };
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

async function fill(draft: string, options: BackupOptions): Promise<Manifest> {
  const { adminUrl, clock, dataDirectory } = options;
  const clusterDirectory = clusterDirectoryIn(dataDirectory);
  return withAdminClient(adminUrl, async (client) => {
    const startedAt = clock.now();
    const server = await readServerFacts(client);
    if (!server.isArchiving) {
      throw new StartError('The running server does not archive its log; restart the service with BACKUP_DIR.');
    }
    const name = startedAt
      .toISOString()
      .replaceAll(/[-:]/g, '')
      .replace(/\.(\d+)Z/, '-$1Z');
    const firstSegment = await startBackup(client, name);
    const copied = await copyCluster(clusterDirectory, join(draft, 'cluster'), options.onProgress);
    const stopped = await stopBackup(client).catch((error: unknown) => {
      throw new StartError('The log was not archived in time; see postgres.log in the data directory.', {
        cause: error,
      });
    });
    const { label } = stopped;
    writePrivateFile(join(draft, 'cluster', 'backup_label'), label);
    const password = await copyFile(join(dataDirectory, 'postgres-password'), join(draft, 'postgres-password'));
    const manifest: Manifest = {
      ...{ format: 1, name, startedAt: startedAt.toISOString(), endedAt: clock.now().toISOString() },
      postgresVersion: server.version,
      firstSegment,
      lastSegment: stopped.segment,
      directories: copied.directories,
      files: [
        ...copied.files,
        { path: join('cluster', 'backup_label'), bytes: Buffer.byteLength(label), sha256: hashOf(label) },
        { path: 'postgres-password', ...password },
      ],
    };
    writePrivateFile(manifestPath(draft), serializeManifest(manifest));
    return manifest;
  });
}

async function copyCluster(from: string, to: string, onProgress: BackupOptions['onProgress']) {
  const directories = ['cluster'];
  const paths: string[] = [];
  const visit = (directory: string): void => {
    for (const entry of readEntries(join(from, directory))) {
      const path = join(directory, entry.name);
      if (omitted.test(entry.name)) continue;
      if (entry.isDirectory()) {
        directories.push(join('cluster', path));
        if (emptied.has(path)) continue;
        visit(path);
      } else if (entry.isSymbolicLink()) {
        throw new StartError(`${join(from, path)} is a link; a backup does not follow tablespaces.`);
      } else if (entry.isFile() && path !== controlFile) paths.push(path);
    }
  };
  visit('');
  // The end of a checkpoint writes it, so it is copied last: it may name nothing newer than the files.
  paths.push(controlFile);
  for (const directory of directories) mkdirSync(join(to, relative('cluster', directory)), { mode: 0o700 });
  const total = paths.reduce((sum, path) => sum + sizeOf(join(from, path)), 0);
  const files: Manifest['files'][number][] = [];
  let done = 0;
  for (const path of paths) {
    const copied = await copyIfThere(join(from, path), join(to, path), path === controlFile);
    // A table that was dropped meanwhile; the log says so.
    if (copied === null) continue;
    files.push({ path: join('cluster', path), ...copied });
    done += copied.bytes;
    onProgress(Math.min(done, total), total);
  }
  for (const directory of directories) syncDirectory(join(to, relative('cluster', directory)));
  return { directories, files };
}

async function copyIfThere(from: string, to: string, isControl: boolean) {
  try {
    if (isControl) return await copyControlFile(from, to);
    return await copyFile(from, to);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The server writes it in place, so a copy could be torn; two equal readings are not. */
async function copyControlFile(from: string, to: string) {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const content = readFileSync(from);
    if (!content.equals(readFileSync(from))) continue;
    const draft = join(dirname(to), `.${basename(to)}`);
    writeFileSync(draft, content, { mode: 0o600 });
    const copied = await copyFile(draft, to);
    rmSync(draft);
    return copied;
  }
  throw new StartError('pg_control did not stand still; try again.');
}

function readEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    // The directory of a database that was dropped meanwhile.
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** What a killed command left: a copy that was never complete, or a backup that it was deleting. */
function removeRemains(backupDirectory: string): void {
  const { base } = backupPaths(backupDirectory);
  const complete = listBackups(backupDirectory);
  const remains = readdirSync(base).filter(
    (name) => name.startsWith(unfinishedPrefix) || (nameForm.test(name) && !complete.includes(name)),
  );
  for (const name of remains) rmSync(join(base, name), { recursive: true, force: true });
}

/**
 * Deletes what is older than the last `keep` backups that are not damaged, and the log that only it needed. The one that was just
 * made stays, also where the clock was set back and its name is the oldest.
 */
function removeOld({ backupDirectory, keep }: BackupOptions, made: string): string[] {
  const { base, log } = backupPaths(backupDirectory);
  const names = listBackups(backupDirectory);
  const whole = names.filter((name) => readWholeManifest(join(base, name)) !== null);
  const oldest = whole.at(-keep) ?? names[0];
  if (oldest === undefined) return [];
  const removed = names.filter((name) => name < oldest && name !== made);
  for (const name of removed) {
    // Without its manifest it is no backup, also if this is interrupted.
    rmSync(manifestPath(join(base, name)));
    rmSync(join(base, name), { recursive: true, force: true });
  }
  // Nobody knows what a damaged one needs: the log stays until it is deleted.
  if (readWholeManifest(join(base, oldest)) === null) return removed;
  // Not what the oldest name needs: where the clock was set back, a later name may need older log.
  const first = names
    .filter((name) => !removed.includes(name))
    .flatMap((name) => readWholeManifest(join(base, name))?.firstSegment ?? [])
    // The timeline, the first eight digits, does not count: a number is used once in the life of a cluster's log.
    .map((segment) => segment.slice(8))
    .toSorted()[0];
  if (first === undefined) return removed;
  for (const name of readdirSync(log)) {
    if (/^[0-9A-F]{24}/.test(name) && name.slice(8, 24) < first) rmSync(join(log, name), { force: true });
  }
  return removed;
}
