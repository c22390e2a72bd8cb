import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { startEmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { familyProcessorSeconds, parentOf } from './process-figures.ts';
import { startService, type Service, type ServiceOptions } from './service.ts';

/** What the parts run on: the embedded PostgreSQL, durable as in production, and services on its databases. */
export interface Workbench {
  /** Starts the service on a new, empty database, or on that of a service that has stopped. */
  startService(options?: ServiceOptions & { successorOf?: Service }): Promise<Service>;
  /** Creates an empty database and returns its owner's URL. */
  createDatabase(): Promise<string>;
  postgresVersion: string;
  /** Processor time of PostgreSQL so far, in seconds. */
  databaseSeconds(): Promise<number>;
  log(sentence: string): void;
  /** Stops everything and removes its files. Can be called again. */
  close(): Promise<void>;
}

export async function openWorkbench(log: (sentence: string) => void): Promise<Workbench> {
  const directory = mkdtempSync(join(tmpdir(), 'dalasi-bench-'));
  const services = new Map<Service, { adminUrl: string; dataDirectory: string }>();
  let databases = 0;
  const server = await startEmbeddedPostgres({
    dataDirectory: join(directory, 'data'),
    durable: true,
    log,
  }).catch((error: unknown) => {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  });
  const createDatabase = async (): Promise<string> => {
    databases += 1;
    const database = `bench_${databases}`;
    await withAdminClient(server.adminUrl, (client) => client.query(`CREATE DATABASE ${database}`));
    return changeConnectionUrl(server.adminUrl, { database });
  };
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const service of services.keys()) await service.stop();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    log,
    createDatabase,
    databaseSeconds: async () => familyProcessorSeconds(await postmasterOf(server.adminUrl)),
    postgresVersion: await withAdminClient(server.adminUrl, async (client) => {
      const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
      return rows[0]?.server_version ?? 'unknown';
    }),
    startService: async ({ successorOf, ...options } = {}) => {
      const found = successorOf && services.get(successorOf);
      const adminUrl = found?.adminUrl ?? (await createDatabase());
      const dataDirectory = found?.dataDirectory ?? join(directory, `service-${databases}`);
      const url = options.checkout === undefined ? adminUrl : overTcp(adminUrl);
      const service = await startService({ ...options, adminUrl: url, dataDirectory });
      services.set(service, { adminUrl, dataDirectory });
      return service;
    },
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

/** As earlier commits reached the bundled PostgreSQL. */
function overTcp(adminUrl: string): string {
  const url = new URL(adminUrl);
  url.searchParams.delete('host');
  return url.href;
}

/** The process that has started the one of a connection. */
async function postmasterOf(adminUrl: string): Promise<number> {
  const backend = await withAdminClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
    );
    return rows[0]?.pid ?? 0;
  });
  return parentOf(backend);
}
