import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { globalSetup, globalTeardown } from '../../test/harness/global-setup.ts';
import { groupFiles, groupProgram } from './groups.ts';
import { startLimited } from './start-limited.ts';
import { TestReport } from './test-report.ts';
import type { Verdict } from './test-report.ts';

export interface TestLimits {
  /** When one test takes longer, it has failed. */
  testMs: number;
  /** So long a process may live on when its tests have ended; after that something in it was left open. */
  lingerMs: number;
}

// The longest tests take half a minute beside three others on two idle cores. Only one that hangs waits for its limit, so
// it leaves room for a machine that is twenty times slower.
const defaultLimits: TestLimits = { testMs: 600_000, lingerMs: 20_000 };

// A part of a test's time is waiting, so one more than there are processors; with two more, tests waited for each other.
const concurrencyMax = availableParallelism() + 1;

const testFiles = '{server/src,simulator,cli,launch,test,tools}/**/*.test.ts';
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

/** Runs test files by Node's own runner, in groups, on one PostgreSQL; says how far it is and what came of it. */
export async function runTests(
  repository: string,
  files: readonly string[],
  limits: TestLimits = defaultLimits,
): Promise<Verdict> {
  // Every test process loads much the same modules, and compiling them is half of what that takes.
  process.env['NODE_COMPILE_CACHE'] ??= join(repository, 'node_modules/.cache/compiled');
  const abort = new AbortController();
  // However this process ends, no test goes on without it.
  process.once('exit', () => abort.abort());
  await globalSetup();
  try {
    const report = new TestReport(repository, files);
    const groups = startLimited(groupFiles(files), concurrencyMax, async (group) => {
      const argv = [String(limits.lingerMs), ...group];
      const stream = run({ files: [groupProgram], argv, timeout: limits.testMs, signal: abort.signal });
      report.follow(stream, group);
      await once(stream.resume(), 'end');
    });
    await Promise.all(groups);
    return report.end();
  } finally {
    await globalTeardown();
  }
}
