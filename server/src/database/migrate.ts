import type pg from 'pg';
import type { Clock } from '../kit/clock.ts';
import { StartError } from '../kit/start-error.ts';
import { withAdminClient } from './admin-client.ts';
import { applyMigration, type ApplyParts } from './apply-migration.ts';
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
    if (pending.length > 0)
      await withAdminClient(adminUrl, (observer) => applyAll(pending, { client, observer, clock, log }));
    // The lock ends with the session, which is closed here.
    return pending.map(labelOf);
  });
}

/**
 * An index is built by one process: with its parallel workers, PostgreSQL would take a core each from the requests. A transfer took
 * 1.3 s while 300,000 charges were indexed on two cores.
 */
async function applyAll(pending: readonly Migration[], parts: Omit<ApplyParts, 'pid'>): Promise<void> {
  const { client, clock, log } = parts;
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = rows[0]?.pid ?? 0;
  await client.query('SET max_parallel_maintenance_workers = 0');
  const startedMs = clock.now().getTime();
  const applied: Migration[] = [];
  try {
    for (const migration of pending) {
      await applyMigration({ ...parts, pid }, migration);
      applied.push(migration);
    }
  } finally {
    // Also when a later one failed.
    if (applied.length > 0) log(describeApplied(applied, clock.now().getTime() - startedMs));
  }
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
