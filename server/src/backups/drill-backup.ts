import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterDirectoryIn } from '../database/embedded/cluster.ts';
import { openDataDirectory } from '../database/embedded/data-directory.ts';
import { findLiveOwner, lockDataDirectory, type DataDirectoryLock } from '../database/embedded/data-directory-lock.ts';
import { startEmbeddedPostgres } from '../database/embedded/embedded.ts';
import { stopOrphanedServer } from '../database/embedded/orphaned-server.ts';
import { migrate } from '../database/migrate.ts';
import type { Clock } from '../kit/clock.ts';
import { openDatabase, type Database } from '../kit/db.ts';
import { PublicError } from '../kit/public-error.ts';
import { StartError } from '../kit/start-error.ts';
import { restoreBackup, type RestoreOptions } from './restore-backup.ts';

interface DrillOptions extends Omit<RestoreOptions, 'until' | 'target' | 'log'> {
  /** What the restored database has to stand. */
  verify: (db: Database) => Promise<{ movements: number; problem: string | null }>;
}

export interface Drilled {
  backup: string | null;
  restoredTo: Date | null;
  movements: number | null;
  /** Why the backup cannot be relied on; null if it can. */
  problem: string | null;
}

const verifyTimeoutMs = 30 * 60_000;

/** Restores a backup into a directory beside the backups, verifies it as a real restore would be, and removes it. */
export async function drillBackup(options: DrillOptions): Promise<Drilled> {
  const directory = join(options.backupDirectory, 'drill');
  const drilled: Drilled = { backup: options.name, restoredTo: null, movements: null, problem: null };
  try {
    return await drillIn(directory, drilled, options);
  } catch (error) {
    if (error instanceof RefusedDrill) throw error;
    // Whatever it is, such as a full disk or a page that the server cannot read: a drill that did not end well has failed.
    return { ...drilled, problem: inWords(error) };
  }
}

/** Another drill runs, so this one did not begin. */
class RefusedDrill extends StartError {}

/** Notes in `drilled` what it has restored. */
async function drillIn(directory: string, drilled: Drilled, options: DrillOptions): Promise<Drilled> {
  const { clock } = options;
  const log = (): void => {};
  const target = join(openDataDirectory(directory), 'copy');
  // Held from the first step to the last: the copy's own lock changes hands, and another drill would remove the copy meanwhile.
  const lock = await lockDrill(directory, clock);
  try {
    // A killed drill may have left its server running.
    await stopOrphanedServer({ clusterDirectory: clusterDirectoryIn(target), clock, log });
    rmSync(target, { recursive: true, force: true });
    const { manifest, restoredTo } = await restoreBackup({ ...options, until: null, target, log });
    Object.assign(drilled, { backup: manifest.name, restoredTo });
    return { ...drilled, ...(await verifyCopy(target, options)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
    lock.release();
  }
}

async function lockDrill(directory: string, clock: Clock): Promise<DataDirectoryLock> {
  try {
    return await lockDataDirectory(directory, clock);
  } catch (error) {
    const owner = findLiveOwner(directory);
    throw owner === undefined ? error : new RefusedDrill(`Process ${owner} is doing a drill; wait for it.`);
  }
}

/** PostgreSQL's own words say more than those for a client of the service. */
function inWords(error: unknown): string {
  const cause = error instanceof PublicError ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}

async function verifyCopy(dataDirectory: string, { clock, verify }: DrillOptions) {
  const log = (): void => {};
  const server = await startEmbeddedPostgres({ dataDirectory, durable: true, clock, log });
  try {
    const { adminUrl } = server;
    // The backup may be of an earlier release, whose copy the start would migrate.
    await migrate({ adminUrl, clock, log });
    const limits = { connectionsMax: 1, statementTimeoutMs: verifyTimeoutMs };
    const db = openDatabase({ url: adminUrl, ...limits, clock, onConnectionError: log });
    try {
      return await verify(db);
    } finally {
      await db.close();
    }
  } finally {
    await server.stop();
  }
}
