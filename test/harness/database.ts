import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { changeConnectionUrl } from '../../server/src/database/connection-url.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { readTestClusterFrom, startTestCluster, type TestCluster } from './cluster.ts';
import { distributedUrlSetting, emptyDistributedDatabase } from './distributed-database.ts';

export interface TestDatabase {
  /** As the owner of the tables. */
  adminUrl: string;
  /** As the serving role, like the service itself. */
  appUrl: string;
  /** Runs a statement as the owner, on connections that the test's other statements use too: a new one takes PostgreSQL 15 ms. */
  asOwner<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>;
  /** Drops the database; fails when connections to it are still open after this time. */
  drop(options?: { timeoutMs: number }): Promise<void>;
}

/** Only a failing test waits this long; on a busy machine a closed connection takes a while to disappear. */
const closeTimeoutMs = 60_000;
const pollEveryMs = 5;

let privateCluster: Promise<TestCluster> | undefined;

// For the statements that create and drop databases.
const pools = new Map<string, pg.Pool>();

/**
 * Creates a database with the newest schema and no rows, a clone of the template (about 20 ms), on the cluster that the
 * test command started. A test file that runs alone starts its own cluster and stops it at the end.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const distributedUrl = process.env[distributedUrlSetting];
  if (distributedUrl) return await emptyDistributedDatabase(distributedUrl);
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
  const { adminUrl } = cluster;
  await onServer(adminUrl).query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const ownUrl = changeConnectionUrl(adminUrl, { database });
  const owner = openPool(ownUrl);
  return {
    adminUrl: ownUrl,
    appUrl: changeConnectionUrl(cluster.appUrl, { database }),
    asOwner: (text, values) => owner.query(text, values),
    drop: async (options) => {
      await owner.end();
      await dropDatabase(adminUrl, database, options?.timeoutMs ?? closeTimeoutMs);
    },
  };
}

/** The connections of this process to the server itself. */
function onServer(adminUrl: string): pg.Pool {
  const pool = pools.get(adminUrl) ?? openPool(adminUrl);
  pools.set(adminUrl, pool);
  return pool;
}

/** Idle connections let the process end, and end themselves soon, because all tests share the server's. */
function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 2, idleTimeoutMillis: 500, allowExitOnIdle: true });
  // The test server may end first.
  pool.on('error', () => {});
  return pool;
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
  const server = onServer(adminUrl);
  const left = await untilClosed(server, database, timeoutMs);
  await server.query(`DROP DATABASE ${database} WITH (FORCE)`);
  if (left > 0) throw new Error(`the test left ${left} connections to its database open`);
}

/** The number of connections that are still open after this time. A closed one counts until its server process has ended. */
async function untilClosed(server: pg.Pool, database: string, timeoutMs: number): Promise<number> {
  const giveUpAt = systemClock.now().getTime() + timeoutMs;
  for (;;) {
    const { rows } = await server.query<{ left: number }>(
      "SELECT count(*)::integer AS left FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
      [database],
    );
    const left = rows[0]?.left ?? 0;
    if (left === 0 || systemClock.now().getTime() > giveUpAt) return left;
    await systemClock.sleep(pollEveryMs);
  }
}
