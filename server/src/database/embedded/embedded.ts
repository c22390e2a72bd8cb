import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { systemClock, type Clock } from '../../kit/clock.ts';
import { withAdminClient } from '../admin-client.ts';
import { findBinaries } from './binaries.ts';
import { adminRoleName, clusterDirectoryIn, prepareCluster } from './cluster.ts';
import { changeConnectionUrl } from '../connection-url.ts';
import { isSystemError, openDataDirectory, unusableDataDirectory } from './data-directory.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { archiveSettings, openLogArchive } from './log-archive.ts';
import { refuseUnseenServer, stopOrphanedServer } from './orphaned-server.ts';
import { findServerAccount } from './server-account.ts';
import { startServer } from './server-process.ts';

export interface EmbeddedPostgres {
  /** The database `dalasi` as its superuser. Contains the password: never log it. */
  adminUrl: string;
  /** Stops the server (fast shutdown) and releases the data directory. Close the pools first. */
  stop(): Promise<void>;
  /**
   * Resolves when the server has ended; without a `stop()` before, the program has lost its database. Neither this nor the
   * server keeps the process alive.
   */
  exited: Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Created if missing. Holds the cluster (`postgres/`), its password, its log and the lock of the running process. */
  dataDirectory: string;
  /** false only for tests: a killed server then loses its last rows, and a power cut damages the files. */
  durable: boolean;
  log: (sentence: string) => void;
  /** Where the server archives its log; null for nowhere. */
  backupDirectory?: string | null;
  clock?: Clock;
}

export const databaseName = 'dalasi';

/**
 * Starts the bundled PostgreSQL in the data directory, and creates the directory and the cluster if they are missing. Works as an
 * ordinary user and as root. What a crash left behind (half a cluster, a lock, a server still running) is cleaned up.
 *
 * @throws StartError when another process uses the data directory, or the server cannot run here.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { durable, log, backupDirectory = null, clock = systemClock } = options;
  const dataDirectory = openDataDirectory(options.dataDirectory);
  const clusterDirectory = clusterDirectoryIn(dataDirectory);
  await refuseUnseenServer(clusterDirectory);
  const lock = await lockDataDirectory(dataDirectory, clock);
  try {
    await stopOrphanedServer({ clusterDirectory, clock, log });
    const account = findServerAccount(clusterDirectory);
    const binaries = await findBinaries({ dataDirectory, account });
    const cluster = await prepareCluster({ dataDirectory, account, binaries, durable });
    const settings = backupDirectory === null ? {} : archiveSettings(openLogArchive(backupDirectory, dataDirectory));
    const logPath = join(dataDirectory, 'postgres.log');
    const { postgres } = binaries;
    const server = await startServer({ postgres, clusterDirectory, logPath, account, durable, clock, log, settings });
    const adminUrl = superuserUrl({ clusterDirectory, password: cluster.password, port: server.port });
    try {
      await ensureDatabase(adminUrl);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return {
      adminUrl,
      exited: server.exited,
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw isSystemError(error) ? unusableDataDirectory(dataDirectory, error) : error;
  }
}

/**
 * Over the server's socket where it has one: over TCP a statement takes a quarter more processor time of this process and of the
 * server. Host and port of TCP stay in the URL.
 */
export function superuserUrl({
  clusterDirectory,
  password,
  port,
}: {
  clusterDirectory: string;
  password: string;
  port: number;
}): string {
  const url = new URL(`postgresql://${adminRoleName}:${password}@127.0.0.1:${port}/${databaseName}`);
  const directory = resolve(clusterDirectory);
  if (existsSync(join(directory, `.s.PGSQL.${port}`))) url.searchParams.set('host', directory);
  return url.href;
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  if (await databaseExists(adminUrl)) return;
  await withAdminClient(changeConnectionUrl(adminUrl, { database: 'postgres' }), async (client) => {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(databaseName)}`);
  });
}

async function databaseExists(adminUrl: string): Promise<boolean> {
  try {
    return await withAdminClient(adminUrl, async () => true);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof pg.DatabaseError && cause.code === '3D000') return false;
    throw error;
  }
}
