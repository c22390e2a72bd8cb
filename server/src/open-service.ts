import { resolve } from 'node:path';
import type { Config } from './config.ts';
import { withAdminClient } from './database/admin-client.ts';
import { hasCluster } from './database/cluster.ts';
import { startEmbeddedPostgres } from './database/embedded.ts';
import type { EmbeddedPostgres } from './database/embedded.ts';
import { findRunningServer } from './database/running-server.ts';
import { migrate } from './database/migrate.ts';
import { ensureServingRole } from './database/roles.ts';
import { assertSchemaIsCurrent } from './database/schema-version.ts';
import { assertServingRole } from './database/serving-role.ts';
import { whenDatabaseHasStarted } from './database/starting-database.ts';
import type { Clock } from './kit/clock.ts';
import { openDatabase, sqlState } from './kit/db.ts';
import type { Database, DatabaseOptions } from './kit/db.ts';
import type { Log } from './kit/log.ts';
import { StartError } from './kit/start-error.ts';

export interface OpenedDatabase {
  db: Database;
  /** Resolves if the database of our own ends by itself; never with a database of the operator's. */
  lost: Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the database as the serving role: our own in the data directory, or the operator's. With the owner's rights it
 * is migrated first; the service itself never has them.
 *
 * Throws StartError.
 */
export async function openServiceDatabase(
  config: Config,
  parts: { clock: Clock; log: Log; tell: (sentence: string) => void },
): Promise<OpenedDatabase> {
  const embedded = await startOwnDatabase(config, parts);
  try {
    const adminUrl = embedded?.adminUrl ?? config.databaseUrl;
    const url = await whenDatabaseHasStarted(parts, () => prepareDatabase(config, adminUrl, parts));
    const db = await openChecked(parts, [assertServingRole, assertSchemaIsCurrent], {
      url,
      connectionsMax: config.databaseConnections,
      onAfterCommitError: (error) => parts.log.error('what follows a commit failed', error),
    });
    return { db, lost: embedded?.exited ?? new Promise(() => {}), close: () => closeBoth(db, embedded) };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

// An operator's command may read the whole ledger.
const operatorStatementTimeoutMs = 10 * 60 * 1_000;

/**
 * The database for an operator's command: the one that a running service has open, or opened for the command alone. A
 * command makes none: an empty one would answer as if nothing had ever been collected.
 *
 * Throws StartError.
 */
export async function openOperatorDatabase(
  config: Config,
  parts: { clock: Clock; log: Log; tell: (sentence: string) => void },
): Promise<Pick<OpenedDatabase, 'db' | 'close'>> {
  const isEmbedded = config.databaseUrl === null && config.appDatabaseUrl === null;
  if (isEmbedded && !hasCluster(config.dataDirectory)) {
    const directory = resolve(config.dataDirectory);
    throw new StartError(
      `There is no database in the data directory ${directory}; set DATA_DIR to the service's, or start the service once.`,
    );
  }
  const runningUrl = isEmbedded ? findRunningServer(config.dataDirectory) : undefined;
  const embedded = runningUrl === undefined ? await startOwnDatabase(config, parts) : null;
  const adminUrl = runningUrl ?? embedded?.adminUrl ?? config.databaseUrl;
  try {
    const db = await openChecked(parts, [assertSchemaIsCurrent], {
      url: await prepareDatabase(config, adminUrl, parts),
      connectionsMax: 4,
      statementTimeoutMs: operatorStatementTimeoutMs,
    });
    return { db, close: () => closeBoth(db, embedded) };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** Closed again where a check fails. */
async function openChecked(
  { clock, log }: { clock: Clock; log: Log },
  checks: readonly ((db: Database) => Promise<void>)[],
  options: Omit<DatabaseOptions, 'clock' | 'onConnectionError'>,
): Promise<Database> {
  const db = openDatabase({
    ...options,
    clock,
    onConnectionError: (error) => log.warn('a database connection was lost', { error: error.message }),
  });
  try {
    for (const check of checks) await check(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function closeBoth(db: Database, embedded: EmbeddedPostgres | null): Promise<void> {
  await db.close();
  await embedded?.stop();
}

function startOwnDatabase(
  config: Config,
  { clock, tell }: { clock: Clock; tell: (sentence: string) => void },
): Promise<EmbeddedPostgres> | null {
  if (config.databaseUrl !== null || config.appDatabaseUrl !== null) return null;
  return startEmbeddedPostgres({ dataDirectory: config.dataDirectory, durable: true, clock, log: tell });
}

/** Answers the URL of the serving role. */
async function prepareDatabase(
  config: Config,
  adminUrl: string | null,
  { clock, tell }: { clock: Clock; tell: (sentence: string) => void },
): Promise<string> {
  const { appDatabaseUrl: servingUrl } = config;
  try {
    let url = servingUrl ?? '';
    if (adminUrl !== null) {
      await migrate({ adminUrl, clock, log: tell });
      url = await ensureServingRole({ adminUrl, servingUrl });
    }
    // The pool would take a wrong password or address for a database that is away for a moment.
    await withAdminClient(url, () => Promise.resolve());
    return url;
  } catch (error) {
    if (error instanceof Error && sqlState(error) !== undefined) {
      throw new StartError(`The database refused to be made ready: ${error.message}.`, { cause: error });
    }
    throw error;
  }
}
