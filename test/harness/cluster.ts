import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { clusterDirectoryIn } from '../../server/src/database/embedded/cluster.ts';
import { changeConnectionUrl, passwordOf, userOf } from '../../server/src/database/connection-url.ts';
import { findLiveOwner } from '../../server/src/database/embedded/data-directory-lock.ts';
import { startEmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { migrate } from '../../server/src/database/migrate.ts';
import { stopOrphanedServer } from '../../server/src/database/embedded/orphaned-server.ts';
import { ensureServingRole, servingRoleName } from '../../server/src/database/roles.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { shareDirectory } from './shared-directory.ts';
import { fastTemporaryDirectory } from './temporary-directory.ts';

export interface TestCluster {
  /** For `createTestDatabase` in other processes; see `readTestClusterFrom`. */
  env: { TEST_CLUSTER_URL: string; TEST_CLUSTER_APP_URL: string; TEST_CLUSTER_TEMPLATE: string };
  stop(): Promise<void>;
}

const directoryPrefix = 'dalasi-test-';
const templateName = 'dalasi_template';

/**
 * Starts one PostgreSQL for a whole test run, in a temporary directory and without fsync, and migrates its template
 * database once. With TEST_DATABASE_ADMIN_URL (a role that may create databases and roles) it creates the template on
 * that server.
 */
export async function startTestCluster(): Promise<TestCluster> {
  const configuredUrl = process.env['TEST_DATABASE_ADMIN_URL'];
  if (configuredUrl) return await prepareTemplate(configuredUrl, `${templateName}_${randomUUID().slice(0, 8)}`);
  await removeAbandonedClusters();
  const dataDirectory = mkdtempSync(join(fastTemporaryDirectory(), directoryPrefix));
  const server = await startEmbeddedPostgres({ dataDirectory, durable: false, log: () => {} });
  // A signal ends a process without running its exit handlers, one of which stops the server.
  const exitWithHandlers = () => process.exit(1);
  process.once('SIGINT', exitWithHandlers).once('SIGTERM', exitWithHandlers);
  const stop = async () => {
    process.removeListener('SIGINT', exitWithHandlers).removeListener('SIGTERM', exitWithHandlers);
    await server.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  try {
    const { adminUrl } = server;
    const { env } = await prepareTemplate(adminUrl, templateName);
    await reduceScramIterations(adminUrl, env.TEST_CLUSTER_APP_URL);
    await planOnce(adminUrl, env.TEST_CLUSTER_APP_URL);
    await trustSocket(adminUrl, {
      directory: clusterDirectoryIn(dataDirectory),
      roles: [adminUrl, env.TEST_CLUSTER_APP_URL].map(userOf),
    });
    // Removed with the cluster, also after a run that was killed.
    const shared = join(dataDirectory, 'shared');
    mkdirSync(shared);
    return { env: { ...env, ...shareDirectory(shared) }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The test cluster that a parent process started; undefined when this process runs alone. */
export function readTestClusterFrom(env: Record<string, string | undefined>) {
  const { TEST_CLUSTER_URL: adminUrl, TEST_CLUSTER_APP_URL: appUrl, TEST_CLUSTER_TEMPLATE: template } = env;
  return adminUrl && appUrl && template ? { adminUrl, appUrl, template } : undefined;
}

async function prepareTemplate(serverUrl: string, template: string): Promise<TestCluster> {
  const runOnServer = (statement: string) => withAdminClient(serverUrl, (client) => client.query(statement));
  await runOnServer(`CREATE DATABASE ${template} TEMPLATE template0`);
  const adminUrl = changeConnectionUrl(serverUrl, { database: template });
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  const appUrl = await ensureServingRole({ adminUrl, roleName: servingRoleName, password: 'serving' });
  return {
    env: { TEST_CLUSTER_URL: serverUrl, TEST_CLUSTER_APP_URL: appUrl, TEST_CLUSTER_TEMPLATE: template },
    stop: async () => {
      await runOnServer(`DROP DATABASE ${template} WITH (FORCE)`);
    },
  };
}

/**
 * Hashing the password takes more than half of a connection's cost in the client (7.9 ms of processor time; 3.4 ms
 * without), and a run opens thousands. Tests of server/src/database cover real passwords.
 */
async function reduceScramIterations(...urls: string[]): Promise<void> {
  await withAdminClient(urls[0] ?? '', async (client) => {
    await client.query('SET scram_iterations = 1');
    for (const url of urls) {
      const [role, password] = [userOf(url), passwordOf(url) ?? ''];
      await client.query(`ALTER ROLE ${client.escapeIdentifier(role)} PASSWORD ${client.escapeLiteral(password)}`);
    }
  });
}

/** A test sends most statements fewer than six times, and PostgreSQL plans each of the first five anew: a fourteenth of its time. */
async function planOnce(adminUrl: string, appUrl: string): Promise<void> {
  await withAdminClient(adminUrl, (client) =>
    client.query(`ALTER ROLE ${client.escapeIdentifier(userOf(appUrl))} SET plan_cache_mode = force_generic_plan`),
  );
}

/** Without a password over the socket, which only this machine reaches, a connection takes half the time. Over TCP it has one. */
async function trustSocket(
  adminUrl: string,
  { directory, roles }: { directory: string; roles: string[] },
): Promise<void> {
  const path = join(directory, 'pg_hba.conf');
  writeFileSync(path, `local all ${roles.join(',')} trust\n${readFileSync(path, 'utf8')}`);
  await withAdminClient(adminUrl, (client) => client.query('SELECT pg_reload_conf()'));
}

/** Removes the files of killed test runs from the temporary directory, and stops their servers. */
async function removeAbandonedClusters(): Promise<void> {
  for (const name of readdirSync(fastTemporaryDirectory())) {
    const dataDirectory = join(fastTemporaryDirectory(), name);
    try {
      if (!name.startsWith(directoryPrefix) || statSync(dataDirectory).uid !== process.geteuid?.()) continue;
      // Another run is just creating one without a lock.
      if (!existsSync(join(dataDirectory, 'dalasi.lock')) || findLiveOwner(dataDirectory) !== undefined) continue;
      await stopOrphanedServer({
        clusterDirectory: clusterDirectoryIn(dataDirectory),
        clock: systemClock,
        log: () => {},
      });
      rmSync(dataDirectory, { recursive: true, force: true });
    } catch {
      // Another run is removing it too, or we may not remove it; it does no harm.
    }
  }
}
