/**
 * Writes server/migrations/schema.sql from the catalogue of a freshly migrated database; with --check it compares
 * instead, and ends with 1 when they differ. Either way it names what breaks the rules of the catalogue.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withAdminClient } from '../server/src/database/admin-client.ts';
import { changeConnectionUrl } from '../server/src/database/connection-url.ts';
import { migrationsFolder } from '../server/src/database/migration-files.ts';
import { readTestClusterFrom, startTestCluster } from '../test/harness/cluster.ts';
import { findCatalogueBreaches } from './schema/catalogue-rules.ts';
import { describeSchema } from './schema/describe-schema.ts';

const snapshotPath = join(migrationsFolder, 'schema.sql');
const linesShownMax = 20;

const found = await inspectMigratedDatabase();
const breaches = [...found.breaches];

if (process.argv.includes('--check')) {
  const stored = existsSync(snapshotPath) ? readFileSync(snapshotPath, 'utf8') : '';
  if (stored !== found.schema) {
    breaches.push('server/migrations/schema.sql differs from the migrations; run: node tools/schema-snapshot.ts');
    breaches.push(...differingLines(stored, found.schema));
  }
} else {
  writeFileSync(snapshotPath, found.schema);
}
for (const breach of breaches) console.error(breach);
if (breaches.length > 0) process.exitCode = 1;

async function inspectMigratedDatabase(): Promise<{ schema: string; breaches: string[] }> {
  const cluster = await startTestCluster();
  try {
    const location = readTestClusterFrom(cluster.env);
    if (!location) throw new Error('the test cluster did not say where it is');
    return await withAdminClient(
      changeConnectionUrl(location.adminUrl, { database: location.template }),
      async (client) => ({
        schema: await describeSchema(client),
        breaches: await findCatalogueBreaches(client),
      }),
    );
  } finally {
    await cluster.stop();
  }
}

/** What only one of the two has, enough to see what happened. */
function differingLines(stored: string, current: string): string[] {
  const [storedLines, currentLines] = [stored.split('\n'), current.split('\n')];
  const removed = storedLines.filter((line) => !currentLines.includes(line)).map((line) => `- ${line}`);
  const added = currentLines.filter((line) => !storedLines.includes(line)).map((line) => `+ ${line}`);
  const all = [...removed, ...added];
  const rest = all.length - linesShownMax;
  return rest > 0 ? [...all.slice(0, linesShownMax), `… and ${rest} lines more`] : all;
}
