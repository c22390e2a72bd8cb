import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { pathToFileURL } from 'node:url';
import { globalSetup, globalTeardown } from '../../test/harness/global-setup.ts';
import { planProcesses, type PlannedProcess } from './plan-processes.ts';
import { groupProgram, outsideCallsProgram, TestReport, testScopesProgram, type Verdict } from './test-report.ts';
import { workWhileIdle } from './work-while-idle.ts';

export interface TestLimits {
  /** A test that takes longer has failed. */
  testMs: number;
  /** How long a process may live after its tests; one that lives longer has left something open. */
  lingerMs: number;
  /** All files together may take no longer; what has not ended by then has failed. */
  runMs?: number;
  /** Whether the report has a table of the processor time of each file. */
  showsTimes?: boolean;
}

// The longest tests take half a minute beside three others on two idle cores. Only one that hangs waits for its limit, so
// it leaves room for a machine that is twenty times slower.
export const defaultLimits: TestLimits = { testMs: 600_000, lingerMs: 20_000 };

// As `npm start` sets it: with Node's default a twentieth more of the time goes into collecting garbage.
const execArgv = ['--max-semi-space-size=16', `--import=${pathToFileURL(testScopesProgram).href}`];

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

/** Runs test files with Node's test runner, many in a process, on one PostgreSQL, and reports progress and results. */
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
  const directory = mkdtempSync(join(tmpdir(), 'dalasi-run-'));
  const outsideCalls = watchOutsideCalls(directory);
  await globalSetup();
  try {
    const report = new TestReport(repository, files);
    const planned = planProcesses(files, { directory, processors: availableParallelism() });
    await workWhileIdle(planned, (each) => empty(each, { report, limits, signal: abort.signal }));
    report.failOutsideCalls(existsSync(outsideCalls) ? readFileSync(outsideCalls, 'utf8') : '');
    return report.end(limits.showsTimes === true ? [...new Set(planned.map(({ queue }) => queue.directory))] : []);
  } finally {
    clearTimeout(timer);
    await globalTeardown();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** No test calls another machine: a live network, least of all. Returns the path of the file in which those calls stand. */
function watchOutsideCalls(directory: string): string {
  const path = join(directory, 'outside-calls.txt');
  process.env['DALASI_OUTSIDE_CALLS'] = path;
  process.env['NODE_OPTIONS'] =
    `${process.env['NODE_OPTIONS'] ?? ''} --import=${pathToFileURL(outsideCallsProgram).href}`;
  return path;
}

interface RunOptions {
  report: TestReport;
  limits: TestLimits;
  signal: AbortSignal;
}

/** Runs the files of a queue in one process, and in another one what is left when that ended early. */
async function empty({ queue, filesMin }: PlannedProcess, { report, limits, signal }: RunOptions): Promise<void> {
  let before = Infinity;
  for (let left = queue.left(); left >= filesMin && left < before && !signal.aborted; left = queue.left()) {
    const argv = [String(limits.lingerMs), queue.directory];
    const stream = run({ files: [groupProgram], argv, execArgv, timeout: limits.testMs, signal });
    report.listen(stream);
    await once(stream.resume(), 'end');
    before = left;
  }
}
