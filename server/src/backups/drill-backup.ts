import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { clusterDirectoryIn } from '../database/embedded/cluster.ts';
import { findLiveOwner } from '../database/embedded/data-directory-lock.ts';
import { startEmbeddedPostgres } from '../database/embedded/embedded.ts';
import { stopOrphanedServer } from '../database/embedded/orphaned-server.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase, type Database } from '../kit/db.ts';
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
  const { backupDirectory, clock } = options;
  const target = join(backupDirectory, 'drill');
  const owner = findLiveOwner(target);
  if (owner !== undefined) throw new StartError(`Process ${owner} is doing a drill; wait for it.`);
  const log = (): void => {};
  // A killed drill may have left its server running.
  await stopOrphanedServer({ clusterDirectory: clusterDirectoryIn(target), clock, log });
  const remove = (): void => rmSync(target, { recursive: true, force: true });
  remove();
  const drilled: Drilled = { backup: options.name, restoredTo: null, movements: null, problem: null };
  try {
    const { manifest, restoredTo } = await restoreBackup({ ...options, until: null, target, log });
    Object.assign(drilled, { backup: manifest.name, restoredTo });
    return { ...drilled, ...(await verifyCopy(target, options)) };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { ...drilled, problem: error.message };
  } finally {
    remove();
  }
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
