import { readFileSync, writeFileSync } from 'node:fs';
import { apiRoutes } from '../server/src/app/api-routes.ts';
import { eventBodySchemas } from '../server/src/app/event-schemas.ts';
import { describeApi } from '../server/src/http/openapi.ts';

/**
 * Writes docs/openapi.json from the routes; with `--check` it fails where the file is out of date. The document is committed so
 * that a change of the API shows in its diff.
 */
const path = new URL('../docs/openapi.json', import.meta.url);
const document = `${JSON.stringify(await describeApi(apiRoutes, eventBodySchemas), null, 2)}\n`;

if (process.argv.includes('--check')) {
  const stored = readFileSync(path, { encoding: 'utf8', flag: 'a+' });
  if (stored !== document) {
    console.error('docs/openapi.json is not what the routes say. Run: node tools/openapi.ts, and look at the diff.');
    process.exitCode = 1;
  }
} else {
  writeFileSync(path, document);
}
