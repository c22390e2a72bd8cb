/**
 * Records what a release sends to its database, for the check that a newer schema still takes it while an upgrade rolls
 * (tools/released-statements.test.ts). Run once for each release, right before it:
 *
 *     node tools/record-statements.ts                    runs every test and records the statements they send
 *     node tools/record-statements.ts a.test.ts …        records those of some tests beside what is recorded
 *
 * Writes server/migrations/released-statements.sql, and nothing when a test fails. The migrations that are there now count
 * as released from then on.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrationsFolder, readMigrations } from '../server/src/database/migration-files.ts';
import { listTestFiles, runTests } from './runner/run-tests.ts';
import { readReleasedStatements, releasedStatementsPath, writeReleasedStatements } from './released-statements.ts';
import { isQueriesFile, isServiceCode, isTest, readSourceFiles } from './tidy/source-files.ts';
import { hole, SqlResolver } from './tidy/sql-resolution.ts';
import { findNamedStatements } from './tidy/sql-text.ts';

const repository = join(import.meta.dirname, '..');
const chosen = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'dalasi-statements-'));
try {
  process.env['RECORDED_STATEMENTS'] = folder;
  process.env['NODE_OPTIONS'] =
    `${process.env['NODE_OPTIONS'] ?? ''} --import=${pathToFileURL(join(import.meta.dirname, 'statement-listener.js')).href}`;
  const files = chosen.length > 0 ? chosen : listTestFiles(repository);
  const { failed } = await runTests(
    repository,
    files.map((file) => resolve(repository, file)),
  );
  if (failed > 0) throw new Error('A test failed, so that statements may be missing; nothing was recorded.');
  record(chosen.length > 0 ? readReleasedStatements() : new Map<string, string>());
} finally {
  rmSync(folder, { recursive: true });
}

function record(statements: Map<string, string>): void {
  const sources = readSourceFiles(repository).filter(({ path }) => /^(server|test)\/.+[.]ts$/.test(path));
  const named = sources.flatMap((file) => findNamedStatements(file).map((statement) => ({ ...statement, file })));
  const ofService = named.filter(({ file }) => isQueriesFile(file.path) && !isTest(file.path));
  const known = new Set(ofService.map(({ name }) => name));
  // Tests send statements of their own, also under names that are put together (`test_count_…`).
  const ofTests = new Set(named.filter(({ file }) => !isServiceCode(file.path)).map(({ name }) => name));
  const isOurs = (name: string) => known.has(name) || !(ofTests.has(name) || name.startsWith('test_'));
  for (const file of readdirSync(folder)) {
    const sent = JSON.parse(readFileSync(join(folder, file), 'utf8')) as [name: string, text: string][];
    for (const [name, text] of sent) if (isOurs(name)) statements.set(name, text);
  }
  // Statements that no test sends are read from the sources, if they are literal there.
  const resolver = new SqlResolver(sources);
  for (const { file, name, isWhole, text: node } of ofService) {
    const [text, ...others] = isWhole && node ? resolver.resolve({ file, node }) : [];
    if (text !== undefined && others.length === 0 && !text.includes(hole) && !statements.has(name)) {
      statements.set(name, text);
    }
  }
  const newest = readMigrations(migrationsFolder).at(-1)?.number ?? 0;
  const recorded = shortestOfEach(statements);
  writeFileSync(releasedStatementsPath, writeReleasedStatements(recorded, newest));
  console.log(`${recorded.size} statements were recorded.`);
}

/** Of inserts of many rows (`…_insert_1`, `…_insert_2`) the one with the fewest. */
function shortestOfEach(statements: ReadonlyMap<string, string>): Map<string, string> {
  const shortest = new Map<string, [name: string, text: string]>();
  for (const [name, text] of statements) {
    const kind = name.replace(/_\d+$/, '');
    const known = shortest.get(kind);
    if (!known || text.length < known[1].length) shortest.set(kind, [name, text]);
  }
  return new Map(shortest.values());
}
