/**
 * The rules of the house that no linter knows, over every file of the repository. Each finding names the file, the
 * line and what to write instead; any finding makes the program end with 1.
 */
import { join } from 'node:path';
import { citations } from './tidy/citation-rules.ts';
import { clusterStatements, recordedRoutes } from './tidy/cluster-rules.ts';
import {
  ambientTime,
  cookiesSetElsewhere,
  passedOnExports,
  shortTestTitles,
  silencedRules,
  testsThatDoNotRun,
} from './tidy/code-rules.ts';
import { dependencyReasons, errorPages } from './tidy/documentation-rules.ts';
import type { Finding, SourceFile } from './tidy/finding.ts';
import { constraintNames, expandingMigrations } from './tidy/migration-rules.ts';
import { loadSqlParser } from './tidy/postgresql.ts';
import { readSourceFiles } from './tidy/source-files.ts';
import {
  ledgerTables,
  migrationWords,
  statementNames,
  statementFiles,
  statementWords,
  transactionFiles,
} from './tidy/sql-rules.ts';
import { merchantInEveryStatement } from './tidy/tenant-rules.ts';
import { foreignPaths, leftoverMarkers } from './tidy/text-rules.ts';
import { retiredWords } from './tidy/word-rules.ts';

const rules = [
  ambientTime,
  cookiesSetElsewhere,
  passedOnExports,
  silencedRules,
  testsThatDoNotRun,
  shortTestTitles,
  statementWords,
  statementFiles,
  statementNames,
  transactionFiles,
  ledgerTables,
  merchantInEveryStatement,
  clusterStatements,
  recordedRoutes,
  migrationWords,
  constraintNames,
  expandingMigrations,
  leftoverMarkers,
  foreignPaths,
  retiredWords,
  citations,
  errorPages,
  dependencyReasons,
];

export function findUntidiness(files: readonly SourceFile[]): Finding[] {
  return rules.flatMap((rule) => rule(files));
}

async function main(): Promise<void> {
  await loadSqlParser();
  const findings = findUntidiness(readSourceFiles(join(import.meta.dirname, '..')));
  for (const { path, line, message } of findings) console.log(`${path}:${line} ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}

// Not awaited: modules that wait while they load mix up test files that share a process.
if (import.meta.main) void main();
