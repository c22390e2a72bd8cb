import type pg from 'pg';
import type { Clock } from '../kit/clock.ts';
import { errorCode, reasonOf, StartError } from '../kit/start-error.ts';
import { withAdminClient } from './admin-client.ts';
import { isDistributed, runOnCluster } from './cluster/migrate-cluster.ts';
import { labelOf, migrationsFolder, readMigrations, type Migration } from './migration-files.ts';
import { newerSchemaError } from './schema-version.ts';

export interface MigrateOptions {
  /** As the owner of the tables; without a connection pooler, because the lock belongs to the session. */
  adminUrl: string;
  clock: Clock;
  log: (sentence: string) => void;
  folder?: string;
}

interface Applied {
  number: number;
  name: string;
}

const serverVersionMin = 150_000;
// Arbitrary, and the same in every process that migrates.
const migrationLock = '7310274586223301';
const lockPollMs = 100;
// A migration that waits for a table lock blocks every later query of that table: it gives up after 2 s and tries again.
const lockTimeout = '2s';
const attemptsMax = 6;
const retryDelayMs = 1_000;
const lockNotAvailable = '55P03';

/**
 * Brings the database to the newest schema and returns the migrations it applied, as `0001-first-payment`. Processes that start
 * at the same time apply each file once: the others wait, then find nothing to do. A file is one transaction, so a failed one
 * changes nothing; a file with CREATE INDEX CONCURRENTLY cannot be, and is repeated.
 *
 * @throws StartError when the database is newer than this program, its history differs from the files, or a file fails.
 */
export async function migrate({ adminUrl, clock, log, folder = migrationsFolder }: MigrateOptions): Promise<string[]> {
  const migrations = readMigrations(folder);
  return await withAdminClient(adminUrl, async (client) => {
    await refuseOldServer(client);
    await acquireMigrationLock(client, { clock, log });
    await client.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (
         number integer NOT NULL,
         name text NOT NULL,
         applied_at timestamptz NOT NULL,
         CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
       )`,
    );
    const pending = findPending(migrations, await readApplied(client));
    const startedMs = clock.now().getTime();
    const applied: Migration[] = [];
    try {
      for (const migration of pending) {
        await applyWithRetries(client, migration, { clock, log });
        applied.push(migration);
      }
    } finally {
      // Also when a later one failed.
      if (applied.length > 0) log(describeApplied(applied, clock.now().getTime() - startedMs));
    }
    // The lock ends with the session, which is closed here.
    return applied.map(labelOf);
  });
}

/** One sentence, because a first start applies all migrations. */
function describeApplied(applied: readonly Migration[], durationMs: number): string {
  const duration = `in ${durationMs} ms`;
  const [first, last] = [applied[0], applied.at(-1)];
  if (!first || !last || first === last) return `Applied migration ${applied.map(labelOf).join()} ${duration}.`;
  return `Applied ${applied.length} migrations, ${labelOf(first)} to ${labelOf(last)}, ${duration}.`;
}

/** The migrations that the database does not have, which must be the newest ones. */
function findPending(migrations: Migration[], applied: Applied[]): Migration[] {
  const byNumber = new Map(migrations.map((migration) => [migration.number, migration]));
  const newestApplied = applied.at(-1)?.number ?? 0;
  const newestKnown = migrations.at(-1)?.number ?? 0;
  if (newestApplied > newestKnown) {
    throw newerSchemaError(newestApplied, newestKnown);
  }
  for (const { number, name } of applied) {
    const known = byNumber.get(number);
    if (known?.name === name) continue;
    const here = known ? `is called ${known.name} here` : 'does not exist here';
    throw new StartError(
      `The database has migration ${number}, ${name}, which ${here}; start the program that migrated it, or set DATABASE_URL to its own database.`,
    );
  }
  const appliedNumbers = new Set(applied.map(({ number }) => number));
  const pending = migrations.filter(({ number }) => !appliedNumbers.has(number));
  const late = pending.find(({ number }) => number < newestApplied);
  if (!late) return pending;
  throw new StartError(
    `Migration ${labelOf(late)} comes before migration ${newestApplied}, which the database already has; give it the next number.`,
  );
}

async function refuseOldServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number }>(
    "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number",
  );
  const server = rows[0];
  if (!server || server.number >= serverVersionMin) return;
  throw new StartError(`The database is PostgreSQL ${server.version}; version 15 or later is needed.`);
}

/**
 * Polls instead of waiting inside a statement: a waiting statement holds a snapshot, and a CREATE INDEX CONCURRENTLY of the
 * process that holds the lock would wait for it in turn.
 */
async function acquireMigrationLock(
  client: pg.Client,
  { clock, log }: Pick<MigrateOptions, 'clock' | 'log'>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query<{ acquired: boolean }>('SELECT pg_try_advisory_lock($1) AS acquired', [
      migrationLock,
    ]);
    if (rows[0]?.acquired) return;
    if (attempt === 1) log('Another process is migrating the database; waiting for it.');
    await clock.sleep(lockPollMs);
  }
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  return (await client.query<Applied>('SELECT number, name FROM schema_migrations ORDER BY number')).rows;
}

async function applyWithRetries(
  client: pg.Client,
  migration: Migration,
  { clock, log }: Pick<MigrateOptions, 'clock' | 'log'>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(client, migration, clock);
    } catch (error) {
      if (errorCode(error) !== lockNotAvailable || attempt === attemptsMax) {
        throw new StartError(`Migration ${labelOf(migration)} failed and changed nothing: ${reasonInWords(error)}.`, {
          cause: error,
        });
      }
      log(`Migration ${labelOf(migration)} waits for a table that is in use; trying again.`);
      await clock.sleep(retryDelayMs);
    }
  }
}

function reasonInWords(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : reasonOf(error);
}

async function apply(client: pg.Client, migration: Migration, clock: Clock): Promise<void> {
  const [, index] = concurrentIndex.exec(migration.text) ?? [];
  if (index !== undefined) {
    await dropUnfinishedIndex(client, index);
    await client.query(migration.text);
    return await markApplied(client, migration, clock);
  }
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
    if (await isDistributed(client)) await runOnCluster(client, migration.text);
    else await client.query(migration.text);
    await markApplied(client, migration, clock);
    await client.query('COMMIT');
  } catch (error) {
    // A lost connection rolls back by itself; the first error is the one that counts.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

// PostgreSQL builds such an index outside of a transaction, so it is alone in its file.
const concurrentIndex =
  /^(?:\s*--[^\n]*\n)*\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+(\w+)/i;

/** An interrupted build leaves an invalid index, which IF NOT EXISTS would take for the real one. */
async function dropUnfinishedIndex(client: pg.Client, index: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [index],
  );
  if (rowCount) await client.query(`DROP INDEX CONCURRENTLY ${index}`);
}

async function markApplied(client: pg.Client, { number, name }: Migration, clock: Clock): Promise<void> {
  await client.query('INSERT INTO schema_migrations (number, name, applied_at) VALUES ($1, $2, $3)', [
    number,
    name,
    clock.now(),
  ]);
}
