import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { createOncePerRun } from './shared-directory.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

/** A durable PostgreSQL, as an operator runs one. The service refuses the tests' shared one, which is not durable. */
export interface DatabaseServer {
  adminUrl: string;
  /** Creates an empty database and returns its owner's URL, for DATABASE_URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export async function startDatabaseServer(): Promise<DatabaseServer> {
  // The next run's shared cluster removes directories with this prefix that a killed run left.
  const dataDirectory = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-test-'));
  const empty = await createOncePerRun('empty-server', async (directory) => (await start(directory)).stop());
  // initdb takes 1.2 s of processor time, a copy of its files 0.06 s.
  if (empty !== undefined) cpSync(empty, dataDirectory, { recursive: true });
  const server = await start(dataDirectory);
  return {
    adminUrl: server.adminUrl,
    createDatabase: async () => {
      const database = `test_${randomUUID().replaceAll('-', '')}`;
      await withAdminClient(server.adminUrl, (client) => client.query(`CREATE DATABASE ${database}`));
      return changeConnectionUrl(server.adminUrl, { database });
    },
    stop: async () => {
      await server.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

function start(dataDirectory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDirectory, durable: true, log: () => {} });
}
