import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTestClusterFrom, startTestCluster } from '../../test/harness/cluster.ts';
import { groupFiles } from './groups.ts';
import { addCounts, hasFailed, verdictOn } from './outcome.ts';
import type { GroupOutcome, Verdict } from './outcome.ts';
import { Progress } from './progress.ts';
import { describeCounts, describeFailures, describeSlowest, nameFailures } from './report.ts';
import { defaultLimits, runTestGroup } from './run-test-group.ts';
import type { GroupLimits } from './run-test-group.ts';
import { startLimited } from './start-limited.ts';

// A part of a test's time is waiting for the database, so twice as many as there are processors on a small machine.
const concurrencyMax = 4;

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
 * Runs test files on one PostgreSQL that they share, and says how far it is; then prints every failure in full, the
 * slowest files and node's summary.
 */
export async function runTests(
  repository: string,
  files: readonly string[],
  limits: GroupLimits = defaultLimits,
): Promise<Verdict> {
  const startedMs = performance.now();
  const outcomes = await runFiles(repository, files, limits);
  for (const outcome of outcomes.filter(hasFailed)) console.log(`\n${describeFailures(outcome, repository)}`);
  const counts = addCounts(outcomes.map((outcome) => outcome.counts));
  console.log(`\n${describeSlowest(outcomes, repository)}\n`);
  console.log(describeCounts(counts, performance.now() - startedMs));
  if (counts.skipped + counts.todo > 0) console.log('Tests that were skipped or only planned count as failed.');
  return verdictOn(counts);
}

async function runFiles(repository: string, files: readonly string[], limits: GroupLimits): Promise<GroupOutcome[]> {
  // A run that is itself started by a test uses that one's database server.
  const cluster = readTestClusterFrom(process.env) ? undefined : await startTestCluster();
  Object.assign(process.env, cluster?.env);
  // Every test process loads much the same modules, and compiling them is half of what that takes.
  process.env['NODE_COMPILE_CACHE'] ??= join(repository, 'node_modules/.cache/compiled');
  const abort = new AbortController();
  // However this process ends, no test goes on without it.
  process.once('exit', () => abort.abort());
  const progress = new Progress(repository, files);
  try {
    const run = async (group: readonly string[]): Promise<GroupOutcome> => {
      const outcome = await runTestGroup(group, { limits, signal: abort.signal, progress });
      if (outcome.failures.length > 0) progress.note(nameFailures(outcome, repository));
      return outcome;
    };
    const groups = startLimited(groupFiles(files), concurrencyMax, (group) => runGroup(group, run));
    return (await Promise.all(groups)).flat();
  } finally {
    progress.end();
    await cluster?.stop();
  }
}

/**
 * A group whose process ends early, hangs or leaves something open has failed, and is run again file by file to find
 * whose it was.
 */
async function runGroup(
  group: readonly string[],
  run: (files: readonly string[]) => Promise<GroupOutcome>,
): Promise<GroupOutcome[]> {
  const outcome = await run(group);
  const failures = outcome.failures.filter(({ file }) => file === undefined);
  if (failures.length === 0 || group.length === 1) return [outcome];
  const alone: GroupOutcome[] = [];
  for (const file of group) alone.push(await run([file]));
  return [{ ...outcome, failures, counts: { ...addCounts([]), tests: 1, failed: 1 }, durationMs: new Map() }, ...alone];
}
