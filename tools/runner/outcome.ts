/** One test, or one file, that did not do what it should. */
export interface Failure {
  /** The test file; undefined when it is about the process of a whole group of files. */
  file: string | undefined;
  /** The suites and the test, outermost first; empty when it is about the file as a whole. */
  titles: string[];
  line: number | undefined;
  /** An error with its stack, or a sentence. */
  reason: unknown;
}

/** As node's own summary counts: a cancelled test did not end, and suites are not tests. */
export interface Counts {
  tests: number;
  suites: number;
  passed: number;
  failed: number;
  cancelled: number;
  skipped: number;
  todo: number;
}

/** What came of the test files of one process. */
export interface GroupOutcome {
  files: readonly string[];
  /** Of the files that ended. */
  durationMs: ReadonlyMap<string, number>;
  counts: Counts;
  failures: Failure[];
  /** What the process wrote, the last part of it when it was much. */
  output: string;
}

const noCounts: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

export function addCounts(all: readonly Counts[]): Counts {
  const sum = { ...noCounts };
  for (const counts of all) for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += counts[key];
  return sum;
}

export interface Verdict {
  passed: number;
  failed: number;
}

/** A test that was cancelled, skipped or only planned has protected nothing: it counts as failed. */
export function verdictOn(counts: Counts): Verdict {
  return { passed: counts.passed, failed: counts.failed + counts.cancelled + counts.skipped + counts.todo };
}

export function hasFailed({ failures, counts }: GroupOutcome): boolean {
  return failures.length > 0 || verdictOn(counts).failed > 0;
}
