import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { startEmbeddedPostgres } from '../../server/src/database/embedded.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

/** A PostgreSQL as an operator runs one. The tests' shared one forgets on purpose, and the service refuses to serve from it. */
export interface DatabaseServer {
  adminUrl: string;
  /** An empty database; answers its URL as the owner of everything in it, for DATABASE_URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

export async function startDatabaseServer(): Promise<DatabaseServer> {
  // Of a run that was killed, the next one's shared cluster removes directories of this name.
  const dataDirectory = mkdtempSync(join(fastTemporaryDirectory(), 'dalasi-test-'));
  const server = await startEmbeddedPostgres({ dataDirectory, durable: true, log: () => {} });
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
