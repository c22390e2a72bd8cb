import pg from 'pg';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { distribute } from '../../server/src/database/cluster/distribute.ts';
import { userOf } from '../../server/src/database/connection-url.ts';
import { migrate } from '../../server/src/database/migrate.ts';
import { placements } from '../../server/src/database/placement.ts';
import { ensureServingRole } from '../../server/src/database/roles.ts';
import { systemClock } from '../../server/src/kit/clock.ts';

/** A database for tests alone on the coordinator of a cluster, as the owner of its tables; `npm run test:cluster` sets it. */
export const distributedUrlSetting = 'TEST_DISTRIBUTED_URL';

/**
 * The database of `npm run test:cluster`, migrated, distributed and emptied. A cluster cannot clone databases, so that tests have
 * this one in turn, and the command runs them one after the other.
 */
export async function emptyDistributedDatabase(adminUrl: string) {
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  const appUrl = await ensureServingRole({ adminUrl, password: 'serving' });
  await withAdminClient(adminUrl, async (client) => {
    await distribute(client, { servingRole: userOf(appUrl), onStep: () => {} });
    const tables = [...placements.keys()].filter((table) => table !== 'schema_migrations');
    await client.query(`TRUNCATE ${tables.join(', ')}`);
  });
  const owner = new pg.Pool({ connectionString: adminUrl, max: 2, idleTimeoutMillis: 500, allowExitOnIdle: true });
  return {
    adminUrl,
    appUrl,
    asOwner: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => owner.query<Row>(text, values),
    drop: () => owner.end(),
  };
}
