import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { labelOf, migrationsFolder, readMigrations } from '../../server/src/database/migration-files.ts';
import { migrate } from '../../server/src/database/migrate.ts';
import { ensureServingRole, servingRoleName } from '../../server/src/database/roles.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { createEmptyTestDatabase, type TestDatabase } from './database.ts';
import { asOwner, listTables } from './tables.ts';

export const releasedDataPath = join(migrationsFolder, 'released-data.json');

/** The content of a database of the last release: every row as JSON of PostgreSQL, and what a client remembers. */
export interface ReleasedData {
  /** The newest migration of that release. */
  migration: number;
  /** When the data was recorded, by the clock of the service that wrote it. */
  recordedAt: string;
  merchantId: string;
  /** A transfer's request and response, for a replay. */
  replay: { key: string; body: unknown; response: string };
  /** By `schema.table`. */
  tables: Record<string, unknown[]>;
}

export function readReleasedData(): ReleasedData {
  return JSON.parse(readFileSync(releasedDataPath, 'utf8')) as ReleasedData;
}

/** Every row of every table except the applied migrations. */
export async function dumpRows(service: { database: TestDatabase }): Promise<ReleasedData['tables']> {
  const tables: ReleasedData['tables'] = {};
  for (const name of await listTables(service)) {
    if (name === 'public.schema_migrations') continue;
    const rows = await asOwner<{ row: unknown }>(service, `SELECT to_json(stored) AS row FROM ${name} AS stored`);
    if (rows.length > 0) tables[name] = rows.map(({ row }) => row);
  }
  return tables;
}

/** Creates a database as the last release left it, and applies the migrations added since. */
export async function upgradeReleasedData(data: ReleasedData): Promise<TestDatabase> {
  const database = await createEmptyTestDatabase();
  const released = mkdtempSync(join(tmpdir(), 'dalasi-released-'));
  try {
    for (const migration of readMigrations(migrationsFolder).filter(({ number }) => number <= data.migration)) {
      const file = `${labelOf(migration)}.sql`;
      cpSync(join(migrationsFolder, file), join(released, file));
    }
    const options = { adminUrl: database.adminUrl, clock: systemClock, log: () => {} };
    await migrate({ ...options, folder: released });
    await loadRows(database, data.tables);
    await migrate(options);
    await ensureServingRole({ adminUrl: database.adminUrl, roleName: servingRoleName, password: 'serving' });
    return database;
  } finally {
    rmSync(released, { recursive: true });
  }
}

async function loadRows(database: TestDatabase, tables: ReleasedData['tables']): Promise<void> {
  await withAdminClient(database.adminUrl, async (client) => {
    // Rows refer to each other; they were consistent when they were dumped.
    await client.query('SET session_replication_role = replica');
    for (const [name, rows] of Object.entries(tables)) {
      await client.query(`DELETE FROM ${name}`);
      await client.query(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, $1)`, [
        JSON.stringify(rows),
      ]);
    }
  });
}
