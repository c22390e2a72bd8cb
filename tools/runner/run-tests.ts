import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTestClusterFrom, startTestCluster } from '../../test/harness/cluster.ts';
import { addCounts, verdictOn } from './outcome.ts';
import type { FileOutcome, Verdict } from './outcome.ts';
import { describeCounts, describeFailures, describeSlowest } from './report.ts';
import { defaultLimits, runTestFile } from './run-test-file.ts';
import type { TestFileLimits } from './run-test-file.ts';
import { startLimited } from './start-limited.ts';

// Most of a test's time is waiting for the database, so twice as many as there are processors on a small machine.
const concurrencyMax = 4;
const dotsInRow = 80;

const testFiles = '{server/src,cli,launch,test,tools}/**/*.test.ts';
const onlyLong = /\.long\.test\.ts$/;

/** All tests of the repository but the long ones, in one order on every machine, as paths from its root. */
export function listTestFiles(repository: string): string[] {
  const files = globSync(testFiles, { cwd: repository }).toSorted();
  return files.filter((file) => !onlyLong.test(file));
}

/** The test files for which there is more to do than in the test command: named so, or asking how much they may try. */
export function listLongTestFiles(repository: string): string[] {
  const files = globSync(testFiles, { cwd: repository }).toSorted();
  return files.filter((file) => onlyLong.test(file) || asksForEffort(join(repository, file)));
}

function asksForEffort(path: string): boolean {
  return /from '[^']*\/harness\/(effort|crash-story)\.ts'/.test(readFileSync(path, 'utf8'));
}

/**
 * Runs test files on one PostgreSQL that they share, with a dot for each file; then prints every failure in full, the
 * slowest files and node's summary.
 */
export async function runTests(
  repository: string,
  files: readonly string[],
  limits: TestFileLimits = defaultLimits,
): Promise<Verdict> {
  const startedMs = performance.now();
  const outcomes = await runFiles(files, limits);
  for (const outcome of outcomes.filter(hasFailed)) console.log(`\n${describeFailures(outcome, repository)}`);
  const counts = addCounts(outcomes.map((outcome) => outcome.counts));
  const verdict = verdictOn(counts);
  console.log(`\n${describeSlowest(outcomes, repository)}\n`);
  console.log(describeCounts(counts, performance.now() - startedMs));
  if (counts.skipped + counts.todo > 0) console.log('Tests that were skipped or only planned count as failed.');
  return verdict;
}

async function runFiles(files: readonly string[], limits: TestFileLimits): Promise<FileOutcome[]> {
  // A run that is itself started by a test uses that one's database server.
  const cluster = readTestClusterFrom(process.env) ? undefined : await startTestCluster();
  Object.assign(process.env, cluster?.env);
  const abort = new AbortController();
  // However this process ends, no test file goes on without it.
  process.once('exit', () => abort.abort());
  try {
    console.log(`${files.length} test files, a dot for each that passes`);
    const outcomes: FileOutcome[] = [];
    for (const running of startLimited(files, concurrencyMax, (file) => runTestFile(file, limits, abort.signal))) {
      const outcome = await running;
      outcomes.push(outcome);
      process.stdout.write(hasFailed(outcome) ? 'F' : '.');
      if (outcomes.length % dotsInRow === 0) process.stdout.write('\n');
    }
    process.stdout.write('\n');
    return outcomes;
  } finally {
    await cluster?.stop();
  }
}

function hasFailed(outcome: FileOutcome): boolean {
  return outcome.failures.length > 0 || verdictOn(outcome.counts).failed > 0;
}
