import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { globalSetup, globalTeardown } from '../../test/harness/global-setup.ts';
import { groupFiles, groupProgram } from './groups.ts';
import { TestReport } from './test-report.ts';
import type { Verdict } from './test-report.ts';
import { workWhileIdle } from './work-while-idle.ts';

export interface TestLimits {
  /** A test that takes longer has failed. */
  testMs: number;
  /** How long a process may live after its tests; one that lives longer has left something open. */
  lingerMs: number;
  /** All files together may take no longer; what has not ended by then has failed. */
  runMs?: number;
}

// The longest tests take half a minute beside three others on two idle cores. Only one that hangs waits for its limit, so
// it leaves room for a machine that is twenty times slower.
const defaultLimits: TestLimits = { testMs: 600_000, lingerMs: 20_000 };

const testFiles = '{server/src,simulator,cli,launch,test,tools}/**/*.test.ts';
const onlyLong = /\.long\.test\.ts$/;

/** All test files but the long ones, as paths from the root, in the same order on every machine. */
export function listTestFiles(repository: string): string[] {
  const files = globSync(testFiles, { cwd: repository }).toSorted();
  return files.filter((file) => !onlyLong.test(file));
}

/** The test files that do more in the long run: those named so, and those that use test/harness/effort.ts. */
export function listLongTestFiles(repository: string): string[] {
  const files = globSync(testFiles, { cwd: repository, exclude: ['tools/**'] }).toSorted();
  return files.filter((file) => onlyLong.test(file) || usesEffort(join(repository, file)));
}

function usesEffort(path: string): boolean {
  return /from '[^']*\/harness\/(effort|crash-story)\.ts'/.test(readFileSync(path, 'utf8'));
}

/** Runs test files with Node's test runner, in groups, on one PostgreSQL, and reports progress and results. */
export async function runTests(
  repository: string,
  files: readonly string[],
  limits: TestLimits = defaultLimits,
): Promise<Verdict> {
  // All test processes load much the same modules, and half of the time for that is compiling.
  process.env['NODE_COMPILE_CACHE'] ??= join(repository, 'node_modules/.cache/compiled');
  const abort = new AbortController();
  // However this process ends, its tests end with it.
  process.once('exit', () => abort.abort());
  const timer = limits.runMs === undefined ? undefined : setTimeout(() => abort.abort(), limits.runMs);
  await globalSetup();
  try {
    const report = new TestReport(repository, files);
    await workWhileIdle(groupFiles(files), async (group) => {
      const argv = [String(limits.lingerMs), ...group];
      const stream = run({ files: [groupProgram], argv, timeout: limits.testMs, signal: abort.signal });
      report.listen(stream, group);
      await once(stream.resume(), 'end');
    });
    return report.end();
  } finally {
    clearTimeout(timer);
    await globalTeardown();
  }
}
