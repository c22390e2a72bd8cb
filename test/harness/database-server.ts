import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { migrate } from '../../server/src/database/migrate.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { createOncePerRun } from './shared-directory.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

/** A durable PostgreSQL, as an operator runs one. The service refuses the tests' shared one, which is not durable. */
export interface DatabaseServer {
  adminUrl: string;
  /** Creates an empty database and returns its owner's URL, for DATABASE_URL. */
  createDatabase(): Promise<string>;
  /** The same with the newest schema and no rows, at a tenth of what the migrations take. */
  createMigratedDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export async function startDatabaseServer(): Promise<DatabaseServer> {
  // The next run's shared cluster removes directories with this prefix that a killed run left.
  const dataDirectory = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-test-'));
  const made = await createOncePerRun('database-server', async (directory) => (await make(directory)).stop());
  // initdb takes 1.2 s of processor time and the migrations a second, a copy of the files 0.06 s.
  if (made !== undefined) cpSync(made, dataDirectory, { recursive: true });
  const { adminUrl, stop } = await (made === undefined ? make : start)(dataDirectory);
  const create = async (template: string): Promise<string> => {
    const database = `test_${randomUUID().replaceAll('-', '')}`;
    await withAdminClient(adminUrl, (client) => client.query(`CREATE DATABASE ${database} TEMPLATE ${template}`));
    return changeConnectionUrl(adminUrl, { database });
  };
  return {
    adminUrl,
    createDatabase: () => create('template1'),
    createMigratedDatabase: () => create(migratedTemplate),
    stop: async () => {
      await stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

const migratedTemplate = 'migrated';

async function make(dataDirectory: string): Promise<EmbeddedPostgres> {
  const server = await start(dataDirectory);
  await withAdminClient(server.adminUrl, (client) => client.query(`CREATE DATABASE ${migratedTemplate}`));
  const adminUrl = changeConnectionUrl(server.adminUrl, { database: migratedTemplate });
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  return server;
}

function start(dataDirectory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDirectory, durable: true, log: () => {} });
}
