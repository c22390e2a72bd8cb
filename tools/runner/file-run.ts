import { run } from 'node:test';
import type { EventData } from 'node:test';

type FailureEvent = EventData.TestFail;

export interface Failure {
  /** The names of the suites and of the test, outermost first; empty when the file itself failed. */
  path: string[];
  line: number | undefined;
  error: unknown;
}

export interface Counts {
  tests: number;
  suites: number;
  passed: number;
  failed: number;
  cancelled: number;
  skipped: number;
  todo: number;
}
