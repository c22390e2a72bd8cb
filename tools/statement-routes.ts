/** Writes tools/tidy/statement-routes.txt: on which nodes of a cluster each statement of the service runs (docs/scaling.md). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { routesOf, routesPath, writeRoutes } from './tidy/cluster-rules.ts';
import { loadSqlParser } from './tidy/postgresql.ts';
import { readSourceFiles } from './tidy/source-files.ts';

const repository = join(import.meta.dirname, '..');

async function main(): Promise<void> {
  await loadSqlParser();
  const routes = routesOf(readSourceFiles(repository));
  writeFileSync(join(repository, routesPath), writeRoutes(routes));
  for (const [route, { length }] of Map.groupBy(routes, (each) => each.route)) console.log(`${length} ${route}`);
}

void main();
