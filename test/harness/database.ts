import { randomUUID } from 'node:crypto';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { readTestClusterFrom, startTestCluster } from './cluster.ts';
import type { TestCluster } from './cluster.ts';

export interface TestDatabase {
  /** As the owner of the tables. */
  adminUrl: string;
  /** As the serving role, like the service itself. */
  appUrl: string;
  /** Drops the database; fails when connections to it are still open after this time. */
  drop(options?: { timeoutMs: number }): Promise<void>;
}

/** Only a failing test waits this long; on a busy machine a closed connection takes a while to disappear. */
const closeTimeoutMs = 60_000;
const pollEveryMs = 5;

let privateCluster: Promise<TestCluster> | undefined;

/**
 * Creates a database with the newest schema and no rows, a clone of the template (about 20 ms), on the cluster that the
 * test command started. A test file that runs alone starts its own cluster and stops it at the end.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { template } = await findCluster();
  return await createDatabase(template);
}

/** Creates a database without tables, for tests of migrations. The serving role has no rights in it yet. */
export async function createEmptyTestDatabase(): Promise<TestDatabase> {
  return await createDatabase('template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const cluster = await findCluster();
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdminClient(cluster.adminUrl, (client) =>
    client.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`),
  );
  return {
    adminUrl: changeConnectionUrl(cluster.adminUrl, { database }),
    appUrl: changeConnectionUrl(cluster.appUrl, { database }),
    drop: (options) => dropDatabase(cluster.adminUrl, database, options?.timeoutMs ?? closeTimeoutMs),
  };
}

async function findCluster() {
  const inherited = readTestClusterFrom(process.env);
  if (inherited) return inherited;
  privateCluster ??= startPrivateCluster();
  const started = readTestClusterFrom((await privateCluster).env);
  if (!started) throw new Error('the test cluster has no address');
  return started;
}

/**
 * Stops at the end of the process: an `after` hook would run before those of the test file, which need the database.
 */
async function startPrivateCluster(): Promise<TestCluster> {
  const cluster = await startTestCluster();
  process.once('beforeExit', () => void cluster.stop());
  return cluster;
}

async function dropDatabase(adminUrl: string, database: string, timeoutMs: number): Promise<void> {
  const left = await withAdminClient(adminUrl, async (client) => {
    const giveUpAt = systemClock.now().getTime() + timeoutMs;
    for (;;) {
      // A closed connection counts until its server process has ended.
      const { rows } = await client.query<{ left: number }>(
        "SELECT count(*)::integer AS left FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
        [database],
      );
      const count = rows[0]?.left ?? 0;
      if (count === 0 || systemClock.now().getTime() > giveUpAt) {
        await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
        return count;
      }
      await systemClock.sleep(pollEveryMs);
    }
  });
  if (left > 0) throw new Error(`the test left ${left} connections to its database open`);
}
