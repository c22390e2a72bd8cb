import { resolve } from 'node:path';
import type { Config } from '../configuration/config.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { userOf } from '../database/connection-url.ts';
import { hasCluster } from '../database/embedded/cluster.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../database/embedded/embedded.ts';
import { findRunningServer } from '../database/embedded/running-server.ts';
import { migrate } from '../database/migrate.ts';
import { ensureServingRole, servingUrlOf } from '../database/roles.ts';
import { assertSchemaIsCurrent } from '../database/schema-version.ts';
import { assertServingRole } from '../database/serving-role.ts';
import { whenDatabaseHasStarted } from '../database/starting-database.ts';
import type { Clock } from '../kit/clock.ts';
import { sqlState } from '../kit/db-errors.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { PublicError } from '../kit/public-error.ts';
import { StartError } from '../kit/start-error.ts';
import { assertKeysMatch, claimPepper } from '../keyring/keyring.ts';
import { keyEvidence } from './open-secrets.ts';
import type { ConfiguredSecrets } from '../configuration/secrets.ts';

export interface OpenedDatabase {
  db: Database;
  /** Resolves if the bundled PostgreSQL ends unexpectedly; never with DATABASE_URL. */
  exited: Promise<void>;
  close(): Promise<void>;
}

interface Parts {
  clock: Clock;
  log: Log;
  logStartup: (sentence: string) => void;
  secrets: Pick<ConfiguredSecrets, 'checks' | 'servingPassword'>;
}

interface PrepareParts extends Parts {
  /** Whether no other process can use this database: this process has started the bundled PostgreSQL. */
  isAlone: boolean;
}

/**
 * Opens the database as the serving role: the bundled PostgreSQL, or the operator's. With the owner's URL it is migrated
 * first; the service itself never has the owner's rights.
 *
 * Throws StartError.
 */
export async function openServiceDatabase(config: Config, parts: Parts): Promise<OpenedDatabase> {
  const embedded = await startOwnDatabase(config, parts);
  try {
    const adminUrl = embedded?.adminUrl ?? config.databaseUrl;
    const isAlone = embedded !== null;
    const url = await whenDatabaseHasStarted(parts, () => prepareDatabase(config, adminUrl, { ...parts, isAlone }));
    const checks = [assertServingRole, assertSchemaIsCurrent, assertOwnKeysFit(parts)];
    const db = await openChecked(parts, checks, {
      url,
      connectionsMax: config.databaseConnections,
      onAfterCommitError: (error) => parts.log.error('an action after a commit failed', error),
    });
    return { db, exited: embedded?.exited ?? new Promise(() => {}), close: () => closeBoth(db, embedded) };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

// An operator's command may read the whole ledger.
const operatorStatementTimeoutMs = 10 * 60 * 1_000;

/**
 * The access of an operator's command: the serving role; the owner (if its URL is known) for commands that work without the
 * right keys; or the serving role after the same preparation as at a start.
 */
export type OperatorAccess = 'serving' | 'owner' | 'prepared';

/**
 * Opens the database for an operator's command: the one of a running service, or for the command alone. A command never
 * creates a database, because an empty one would look like one without payments. It does not migrate or change roles, on
 * which running services depend, unless its access is `prepared`.
 *
 * Throws StartError.
 */
export async function openOperatorDatabase(
  config: Config,
  parts: Parts & { access: OperatorAccess },
): Promise<Pick<OpenedDatabase, 'db' | 'close'> & { role: string; adminUrl: string | null }> {
  const runningUrl = isEmbedded(config) ? findRunningServer(config.dataDirectory) : undefined;
  const embedded = runningUrl === undefined ? await startOwnDatabase(config, parts) : null;
  const adminUrl = runningUrl ?? embedded?.adminUrl ?? config.databaseUrl;
  try {
    const url = await operatorUrl(config, adminUrl, { ...parts, isAlone: embedded !== null });
    const db = await openChecked(parts, [assertSchemaIsCurrent], {
      url,
      connectionsMax: 4,
      statementTimeoutMs: operatorStatementTimeoutMs,
    });
    return { db, role: userOf(url), adminUrl, close: () => closeBoth(db, embedded) };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/**
 * Refuses a command if the service has never been started. Called first, because it leaves the directory unchanged.
 *
 * Throws StartError.
 */
export function assertDatabaseExists(config: Config): void {
  if (!isEmbedded(config) || hasCluster(config.dataDirectory)) return;
  const directory = resolve(config.dataDirectory);
  throw new StartError(
    `There is no database in the data directory ${directory}; set DATA_DIR to the service's, or DATABASE_URL to its PostgreSQL, or start the service once.`,
  );
}

function isEmbedded({ databaseUrl, appDatabaseUrl }: Config): boolean {
  return databaseUrl === null && appDatabaseUrl === null;
}

async function operatorUrl(
  config: Config,
  adminUrl: string | null,
  parts: PrepareParts & { access: OperatorAccess },
): Promise<string> {
  if (parts.access === 'prepared') return prepareDatabase(config, adminUrl, parts);
  const servingUrl = config.appDatabaseUrl;
  if (adminUrl === null) return assertReachable(servingUrl ?? '');
  if (parts.access === 'owner') return assertReachable(adminUrl);
  // Checks the keys first: the password of the role derives from one of them, so a wrong key would look like a wrong password.
  await asOwner(adminUrl, parts, async (db) => {
    await assertSchemaIsCurrent(db);
    await assertKeysMatch(db, parts.secrets.checks);
  });
  const url = servingUrlOf(adminUrl, { servingUrl, password: parts.secrets.servingPassword });
  try {
    return await assertReachable(url);
  } catch (error) {
    if (servingUrl !== null || !(error instanceof StartError) || !isRefusal(error.cause)) throw error;
    throw new StartError(
      `${error.message.slice(0, -1)}; start the service once with this DATABASE_URL, or run: npm run operator -- database prepare.`,
      { cause: error },
    );
  }
}

/** The role does not exist, or has another password, or may not connect to this database. */
function isRefusal(error: unknown): boolean {
  return ['28000', '28P01', '42501'].includes(sqlState(error) ?? '');
}

/** Returns the URL. The pool would treat a wrong password or address as a temporary outage. */
async function assertReachable(url: string): Promise<string> {
  await withAdminClient(url, () => Promise.resolve());
  return url;
}

type Check = (db: Database) => Promise<unknown>;

function assertOwnKeysFit({ secrets }: Pick<Parts, 'secrets'>): Check {
  return (db) => assertKeysMatch(db, secrets.checks);
}

async function asOwner<Result>(
  adminUrl: string,
  parts: Parts,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const db = await openChecked(parts, [], { url: await assertReachable(adminUrl), connectionsMax: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Closes the database again if a check fails. */
async function openChecked(
  { clock, log }: Pick<Parts, 'clock' | 'log'>,
  checks: readonly Check[],
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
  { clock, logStartup }: Pick<Parts, 'clock' | 'logStartup'>,
): Promise<EmbeddedPostgres> | null {
  if (!isEmbedded(config)) return null;
  return startEmbeddedPostgres({
    dataDirectory: config.dataDirectory,
    backupDirectory: config.backupDirectory,
    durable: true,
    clock,
    log: logStartup,
  });
}

/**
 * Migrates and sets up the serving role; returns its URL. Wrong keys are refused, and the pepper of an empty database is
 * recorded, before the role's password is derived from the pepper. An unverified pepper does not change a password that a
 * running process may use.
 */
async function prepareDatabase(config: Config, adminUrl: string | null, parts: PrepareParts): Promise<string> {
  const { clock, logStartup, secrets } = parts;
  const { appDatabaseUrl: servingUrl } = config;
  try {
    let url = servingUrl ?? '';
    if (adminUrl !== null) {
      await migrate({ adminUrl, clock, log: logStartup });
      const isPepperRight = await asOwner(adminUrl, parts, (db) =>
        claimPepper({ db, clock, checks: secrets.checks, evidence: keyEvidence }),
      );
      const mayChangePassword = isPepperRight || parts.isAlone;
      url = await ensureServingRole({ adminUrl, servingUrl, password: secrets.servingPassword, mayChangePassword });
    }
    return await assertReachable(url);
  } catch (error) {
    // PostgreSQL's own error says what is wrong, where the service's would say to try again.
    const failure = error instanceof PublicError ? error.cause : error;
    if (failure instanceof Error && sqlState(failure) !== undefined) {
      throw new StartError(`The database cannot be prepared: ${failure.message}.`, { cause: error });
    }
    throw error;
  }
}
