import type { Queryable } from '../kit/db.ts';
import { StartError } from '../kit/start-error.ts';
import { migrationsFolder, readMigrations } from './migration-files.ts';

/**
 * Refuses to serve from a schema that this program was not written for. The migrator checks too, but not where only
 * APP_DATABASE_URL is set, or names another database than DATABASE_URL.
 *
 * @throws StartError naming both versions.
 */
export async function assertSchemaIsCurrent(database: Queryable, folder: string = migrationsFolder): Promise<void> {
  const known = readMigrations(folder).at(-1)?.number ?? 0;
  const newest = await readNewest(database);
  if (newest === known) return;
  if (newest > known) throw newerSchemaError(newest, known);
  throw new StartError(
    `The database is at migration ${newest} and this program needs ${known}; run: npm run operator -- database prepare, which migrates it, or start once with DATABASE_URL set.`,
  );
}

/** 0 for a database without the service's tables. */
async function readNewest(database: Queryable): Promise<number> {
  const found = await database.row<{ table: string | null }>({
    name: 'database.findMigrations',
    text: `SELECT to_regclass('schema_migrations')::text AS "table"`,
    values: [],
  });
  if (!found?.table) return 0;
  const row = await database.row<{ newest: number | null }>({
    name: 'database.readSchemaVersion',
    text: 'SELECT max(number) AS newest FROM schema_migrations',
    values: [],
  });
  return row?.newest ?? 0;
}

/** A program that is older than the schema must not use it. */
export function newerSchemaError(newest: number, known: number): StartError {
  return new StartError(
    `The database is at migration ${newest} and this program knows only ${known}; start the newer program that migrated it.`,
  );
}
