import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { startEmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import type { EmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { createOncePerRun } from './shared-directory.ts';
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
  const empty = await createOncePerRun('empty-server', async (directory) => (await start(directory)).stop());
  // Making the files takes the server's own program 1.2 s of processor time, a copy 0.06 s.
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
