/**
 * Runs the service on a cluster (docs/scaling.md, "Trying a cluster"):
 *
 *     TEST_DISTRIBUTED_URL=postgres://owner:…@coordinator/dalasi_test npm run test:cluster
 *     … npm run test:cluster -- test/stories/first-payment.test.ts
 *
 * The database is for this alone: it is emptied before each test. First every statement is explained there and compared with where
 * tools/tidy/statement-routes.txt says that it runs, then the stories run, one after the other. The last line is the verdict.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { emptyDistributedDatabase, distributedUrlSetting } from '../test/harness/distributed-database.ts';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { explainedRoutes } from './cluster/explained-routes.ts';
import { loadSqlParser } from './tidy/postgresql.ts';

const repository = join(import.meta.dirname, '..');
const stories =
  /^(?:first-payment|payment-(?:attempts|scenarios|callbacks)|refund-scenarios|transfer-(?:scenarios|callbacks|events|idempotency|overspend)|receipts|webhook-(?:outbox|rotation)|wave-scenarios|operator-cases)[.]test[.]ts$/;

async function main(): Promise<void> {
  const url = process.env[distributedUrlSetting];
  if (!url)
    throw new Error(`Set ${distributedUrlSetting} to a database on a coordinator that is for these tests alone.`);
  await loadSqlParser();
  const database = await emptyDistributedDatabase(url);
  const { explained, others } = await withAdminClient(database.appUrl, (client) => explainedRoutes(client, repository));
  await database.drop();
  for (const other of others) console.log(other);
  console.log(`${explained} statements explained, ${others.length} run elsewhere than recorded`);
  const chosen = process.argv.slice(2);
  const folder = 'test/stories';
  const files =
    chosen.length > 0
      ? chosen
      : readdirSync(join(repository, folder))
          .filter((file) => stories.test(file))
          .map((file) => join(folder, file));
  const failed = files.filter((file) => {
    const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=1', file], {
      cwd: repository,
      stdio: 'inherit',
    });
    return status !== 0;
  });
  if (others.length + failed.length > 0) process.exitCode = 1;
  console.log(
    `${files.length - failed.length} files passed, ${failed.length} failed${failed.map((file) => `\n  ${file}`).join('')}`,
  );
}

void main();
