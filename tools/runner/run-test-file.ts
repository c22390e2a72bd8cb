import { once } from 'node:events';
import { run } from 'node:test';
import type { EventData } from 'node:test';
import { addCounts } from './outcome.ts';
import type { Failure, FileOutcome } from './outcome.ts';

export interface TestFileLimits {
  /** A file that takes longer is ended. */
  fileMs: number;
  /** So long a file may live on when its tests have ended; after that something in it was left open. */
  lingerMs: number;
}

// The longest files take a minute beside three others on two idle cores. Only a file that hangs waits for its limit, so
// it leaves room for a machine that is ten times slower.
export const defaultLimits: TestFileLimits = { fileMs: 600_000, lingerMs: 20_000 };

const outputCharactersMax = 20_000;

/** Runs one test file in a process of its own and answers what came of it; whatever happens there, it does not throw. */
export async function runTestFile(file: string, limits: TestFileLimits, signal: AbortSignal): Promise<FileOutcome> {
  const watch = new FileWatch(file, limits);
  const startedMs = performance.now();
  const stream = run({ files: [file], isolation: 'process', signal: AbortSignal.any([signal, watch.signal]) });
  stream.on('test:dequeue', (event) => watch.start(event));
  stream.on('test:complete', (event) => watch.complete(event));
  stream.on('test:pass', (event) => watch.pass(event));
  stream.on('test:fail', (event) => watch.fail(event));
  stream.on('test:stdout', (event) => watch.write(event.message));
  stream.on('test:stderr', (event) => watch.write(event.message));
  stream.on('test:summary', (event) => watch.summarize(event));
  await once(stream.resume(), 'end');
  watch.end();
  return { file, durationMs: performance.now() - startedMs, ...watch.outcome };
}

interface TestEvent {
  name: string;
  testId: number;
  parentId: number | undefined;
  line?: number;
}

/** Follows the events of one file, and ends it when it takes too long or does not end by itself. */
class FileWatch {
  readonly outcome = { counts: addCounts([]), failures: [] as Failure[], output: '' };
  readonly #file: string;
  readonly #limits: TestFileLimits;
  readonly #abort = new AbortController();
  readonly #seen = new Map<number, TestEvent>();
  readonly #running = new Map<number, TestEvent>();
  readonly #deadline: NodeJS.Timeout;
  #linger: NodeJS.Timeout | undefined;
  #endedBecause: string | undefined;

  constructor(file: string, limits: TestFileLimits) {
    this.#file = file;
    this.#limits = limits;
    this.#deadline = setTimeout(() => this.#stop(this.#tooLong()), limits.fileMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  start(event: TestEvent): void {
    if (this.#isFile(event)) return;
    this.#seen.set(event.testId, event);
    this.#running.set(event.testId, event);
    clearTimeout(this.#linger);
  }

  complete(event: TestEvent): void {
    if (this.#isFile(event)) return;
    this.#running.delete(event.testId);
    if (this.#running.size > 0) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(
      () => this.#stop('Its tests have ended, but the file has not: a connection, server or timer was left open.'),
      this.#limits.lingerMs,
    );
  }

  /** A file without tests is reported as one test that passed. */
  pass(event: TestEvent): void {
    if (this.#isFile(event)) this.#failFile('There is no test in it.');
  }

  fail(event: EventData.TestFail): void {
    const { error } = event.details;
    const { failureType } = error as { failureType?: string };
    // Suites that failed because of what is in them say nothing new.
    if (failureType === 'subtestsFailed') return;
    if (this.#isFile(event)) this.#failFile(this.#endedBecause ?? describeExit(error));
    else this.outcome.failures.push({ titles: this.#titlesOf(event), line: event.line, reason: error.cause ?? error });
  }

  write(text: string): void {
    this.outcome.output = (this.outcome.output + text).slice(-outputCharactersMax);
  }

  /** Comes for the file's own process, and last for the run of which the file is all. */
  summarize(event: EventData.TestSummary): void {
    if (event.file !== undefined) return;
    const { tests, suites, passed, cancelled, skipped, todo } = event.counts;
    const failed = tests - passed - cancelled - skipped - todo;
    this.outcome.counts = { tests, suites, passed, failed, cancelled, skipped, todo };
    if (this.outcome.failures.some((failure) => failure.reason === 'There is no test in it.'))
      this.outcome.counts = { ...this.outcome.counts, passed: 0, failed: 1 };
  }

  end(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#linger);
  }

  #isFile(event: TestEvent): boolean {
    return event.name === this.#file;
  }

  #failFile(reason: string): void {
    this.outcome.failures.push({ titles: [], line: undefined, reason });
  }

  #stop(reason: string): void {
    this.#endedBecause = reason;
    this.#abort.abort();
  }

  #tooLong(): string {
    const all = [...this.#running.values()];
    const innermost = all.filter(({ testId }) => !all.some(({ parentId }) => parentId === testId));
    const names = innermost.map((event) => this.#titlesOf(event).join(' › '));
    const running = names.length > 0 ? ` Still running: ${names.join('; ')}.` : '';
    return `It took longer than ${this.#limits.fileMs / 1000} s.${running}`;
  }

  #titlesOf(event: TestEvent): string[] {
    const parent = event.parentId === undefined ? undefined : this.#seen.get(event.parentId);
    return [...(parent ? this.#titlesOf(parent) : []), event.name];
  }
}

function describeExit(error: Error): string {
  const { exitCode, signal } = error as { exitCode?: number; signal?: string | null };
  if (signal) return `Its process was ended by ${signal}.`;
  return exitCode === undefined ? error.message : `Its process ended with code ${exitCode}; what it wrote says more.`;
}
