import { chownSync, createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { withAdminClient } from '../database/admin-client.ts';
import { findBinaries } from '../database/embedded/binaries.ts';
import {
  adminRoleName,
  changeOwner,
  clusterDirectoryIn,
  draftPrefix,
  readPassword,
} from '../database/embedded/cluster.ts';
import { lockDataDirectory } from '../database/embedded/data-directory-lock.ts';
import { openDataDirectory, syncDirectory, writePrivateFile } from '../database/embedded/data-directory.ts';
import { databaseName } from '../database/embedded/embedded.ts';
import { replaySettings } from '../database/embedded/log-archive.ts';
import { findServerAccount } from '../database/embedded/server-account.ts';
import { startServer } from '../database/embedded/server-process.ts';
import type { Clock } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { systemRandom } from '../kit/random.ts';
import { StartError } from '../kit/start-error.ts';
import { copyFile } from './copy-file.ts';
import { explainFullDisk } from './explain-full-disk.ts';
import { backupPaths, listBackups, readManifest, readWholeManifest, type Manifest } from './manifest.ts';
import { markRestored, readReplayedTo } from './queries.ts';

export interface RestoreOptions {
  backupDirectory: string;
  /** A backup's name; null for the newest that ended before `until`. */
  name: string | null;
  /** Replays the log no further; null for all of it. */
  until: Date | null;
  /** The new data directory. */
  target: string;
  clock: Clock;
  log: (sentence: string) => void;
  onProgress: (bytes: number, total: number) => void;
}

export interface Restored {
  manifest: Manifest;
  /** How many segments of the log were copied to be replayed. */
  segments: number;
  /** The time of the newest change that was restored. */
  restoredTo: Date;
}

// Where the log lies while it is replayed, in the cluster's directory, which is the server's working directory.
const replayDirectory = 'restored-wal';
// What a restore, or a start that was killed, leaves in a directory without a database.
const remains = new RegExp(`^(dalasi\\.lock.*|${draftPrefix}.*|postgres\\.log|postgres-password.*)$`);

/**
 * Restores a backup and the log archived since into a new data directory, checking each file, and marks the database as a copy
 * that does no work. The database gets its name last: an interrupted restore leaves none, and can be repeated.
 *
 * @throws StartError when the directory is not empty, or a file is missing or damaged.
 */
export function restoreBackup(options: RestoreOptions): Promise<Restored> {
  return explainFullDisk(`No space is left in ${options.target}: nothing was restored.`, () => restore(options));
}

async function restore(options: RestoreOptions): Promise<Restored> {
  const { backupDirectory, target, clock } = options;
  const name = options.name ?? chooseBackup(options);
  const source = join(backupPaths(backupDirectory).base, name);
  const manifest = readManifest(source);
  if (statSync(target, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new StartError(`${target} is a file; restore into a new directory.`);
  }
  if (existsSync(target) && readdirSync(target).some((entry) => !remains.test(entry))) {
    throw new StartError(`${target} is not empty; restore into a new directory, and then set DATA_DIR to it.`);
  }
  const dataDirectory = openDataDirectory(target);
  const lock = await lockDataDirectory(dataDirectory, clock);
  const draft = join(dataDirectory, `${draftPrefix}${name}`);
  try {
    for (const entry of readdirSync(dataDirectory).filter((one) => one.startsWith(draftPrefix)))
      rmSync(join(dataDirectory, entry), { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o711 });
    await copyVerified(source, draft, manifest, options.onProgress);
    const cluster = join(draft, 'cluster');
    const segments = await copyLog(join(cluster, replayDirectory), manifest, options);
    renameSync(join(draft, 'postgres-password'), join(dataDirectory, 'postgres-password'));
    const restoredTo = await replay(cluster, dataDirectory, manifest, options);
    rmSync(join(cluster, replayDirectory), { recursive: true });
    syncDirectory(cluster);
    renameSync(cluster, clusterDirectoryIn(dataDirectory));
    syncDirectory(dataDirectory);
    return { manifest, segments, restoredTo };
  } finally {
    rmSync(draft, { recursive: true, force: true });
    lock.release();
  }
}

function chooseBackup({ backupDirectory, until }: RestoreOptions): string {
  const { base } = backupPaths(backupDirectory);
  const found = listBackups(backupDirectory).findLast(
    (name) => until === null || endedBy(readWholeManifest(join(base, name)), until),
  );
  if (found !== undefined) return found;
  throw new StartError(
    `There is no complete backup in ${backupDirectory}${until ? ` from before ${until.toISOString()}` : ''}.`,
  );
}

function endedBy(manifest: Manifest | null, time: Date): boolean {
  return manifest !== null && new Date(manifest.endedAt) <= time;
}

async function copyVerified(from: string, to: string, manifest: Manifest, onProgress: RestoreOptions['onProgress']) {
  for (const directory of manifest.directories) mkdirSync(join(to, directory), { recursive: true, mode: 0o700 });
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const { path, bytes, sha256 } of manifest.files) {
    if (!existsSync(join(from, path)))
      throw new StartError(`The backup is damaged: ${join(from, path)} is missing. Use another one.`);
    const copied = await copyFile(join(from, path), join(to, path));
    if (copied.bytes !== bytes || copied.sha256 !== sha256) {
      throw new StartError(`The backup is damaged: ${join(from, path)} is not as it was written. Use another one.`);
    }
    done += bytes;
    onProgress(done, total);
  }
}

/** Copies the archived log from the backup's first segment on, up to the newest; returns how many segments. */
async function copyLog(to: string, manifest: Manifest, { backupDirectory, until }: RestoreOptions): Promise<number> {
  const { log } = backupPaths(backupDirectory);
  mkdirSync(to, { mode: 0o700 });
  const archived = new Set(readdirSync(log).flatMap((name) => /^([0-9A-F]{24})\.gz$/.exec(name)?.[1] ?? []));
  const newest = [...archived].toSorted().at(-1) ?? manifest.lastSegment;
  let count = 0;
  for (let segment = manifest.firstSegment; segment <= newest || segment <= manifest.lastSegment;) {
    const problem = archived.has(segment) ? await copySegment(join(log, `${segment}.gz`), to, segment) : 'is missing';
    if (problem !== null) {
      // Up to a time before the fault, the log is whole; the server itself refuses a time that it does not reach.
      if (until !== null && segment > manifest.lastSegment) break;
      throw new StartError(
        `The archived log has a fault: ${join(log, `${segment}.gz`)} ${problem}. To restore up to a time before it, use --at.`,
      );
    }
    count += 1;
    segment = segmentAfter(segment);
  }
  return count;
}

async function copySegment(from: string, to: string, segment: string): Promise<string | null> {
  const copy = join(to, `${segment}.gz`);
  await copyFile(from, copy);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // By default a segment is unpacked in a thousand pieces, each by a way to a thread and back.
  const unpacked = createGunzip({ chunkSize: 256 * 1024 });
  try {
    await pipeline(createReadStream(copy), unpacked, nowhere);
    return null;
  } catch {
    return 'is damaged';
  }
}

/** Segments of 16 MB, as initdb makes them: 256 in each log file of 4 GB. */
function segmentAfter(segment: string): string {
  const [timeline, number] = [
    segment.slice(0, 8),
    BigInt(`0x${segment.slice(8, 16)}`) * 256n + BigInt(`0x${segment.slice(16)}`) + 1n,
  ];
  const hex = (value: bigint): string => value.toString(16).toUpperCase().padStart(8, '0');
  return timeline + hex(number / 256n) + hex(number % 256n);
}

/** Starts the server on the copy, which replays the log, marks the database as a copy, and stops it. */
async function replay(
  cluster: string,
  dataDirectory: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<Date> {
  const { clock, log, until } = options;
  writePrivateFile(join(cluster, 'recovery.signal'), '');
  const account = findServerAccount(cluster);
  if (account) {
    changeOwner(account, cluster);
    chownSync(dirname(cluster), account.uid, account.gid);
  }
  const { postgres } = await findBinaries({ dataDirectory, account });
  const server = await startServer({
    ...{ postgres, clusterDirectory: cluster, logPath: join(dataDirectory, 'postgres.log'), account, durable: true },
    ...{ clock, log, settings: replaySettings(replayDirectory, until) },
  });
  try {
    const password = readPassword(dataDirectory);
    const url = `postgresql://${adminRoleName}:${password}@127.0.0.1:${server.port}/${databaseName}`;
    return await withAdminClient(url, async (client) => {
      const restoredTo = (await readReplayedTo(client)) ?? new Date(manifest.startedAt);
      const id = uuidV7(clock, systemRandom);
      await markRestored(client, { id, backup: manifest.name, restoredAt: clock.now(), restoredTo });
      return restoredTo;
    });
  } finally {
    await server.stop();
  }
}
