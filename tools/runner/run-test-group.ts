import { once } from 'node:events';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import type { EventData } from 'node:test';
import { addCounts } from './outcome.ts';
import type { Failure, GroupOutcome } from './outcome.ts';
import type { Progress } from './progress.ts';

export interface GroupLimits {
  /** When one of its files takes longer, the group is ended. */
  fileMs: number;
  /** So long a group may live on when its tests have ended; after that something in it was left open. */
  lingerMs: number;
}

// The longest files take a minute beside three others on two idle cores. Only a file that hangs waits for its limit, so it
// leaves room for a machine that is ten times slower.
export const defaultLimits: GroupLimits = { fileMs: 600_000, lingerMs: 20_000 };

const outputCharactersMax = 20_000;
const groupProgram = join(import.meta.dirname, 'group.ts');

/**
 * Runs test files one after the other in one process, so that they load the application once, and answers what came of
 * them; whatever happens there, it does not throw.
 */
export async function runTestGroup(
  files: readonly string[],
  { limits, signal, progress }: { limits: GroupLimits; signal: AbortSignal; progress?: Progress },
): Promise<GroupOutcome> {
  const watch = new GroupWatch(files, limits, progress);
  const stream = run({
    files: [groupProgram],
    argv: [...files],
    isolation: 'process',
    signal: AbortSignal.any([signal, watch.signal]),
  });
  stream.on('test:dequeue', (event) => watch.start(event));
  stream.on('test:complete', (event) => watch.complete(event));
  stream.on('test:pass', (event) => watch.pass(event));
  stream.on('test:fail', (event) => watch.fail(event));
  stream.on('test:stdout', (event) => watch.write(event.message));
  stream.on('test:stderr', (event) => watch.write(event.message));
  await once(stream.resume(), 'end');
  watch.end();
  return watch.outcome;
}

interface TestEvent {
  name: string;
  testId: number;
  parentId: number | undefined;
  line?: number;
}

type EndEvent = TestEvent & Pick<EventData.TestPass, 'skip' | 'todo'> & { details: EventData.TestPass['details'] };

/** Follows the events of one group, and ends it when it takes too long or does not end by itself. */
class GroupWatch {
  readonly #files: readonly string[];
  readonly #limits: GroupLimits;
  readonly #progress: Progress | undefined;
  readonly #abort = new AbortController();
  readonly #seen = new Map<number, TestEvent>();
  readonly #running = new Map<number, TestEvent>();
  readonly #filesLeft: Set<string>;
  readonly #filesWithTests = new Set<string>();
  readonly #durationMs = new Map<string, number>();
  readonly #failures: Failure[] = [];
  readonly #counts = addCounts([]);
  readonly #deadline: NodeJS.Timeout;
  #output = '';
  #linger: NodeJS.Timeout | undefined;
  #endedBecause: string | undefined;

  constructor(files: readonly string[], limits: GroupLimits, progress: Progress | undefined) {
    this.#files = files;
    this.#filesLeft = new Set(files);
    this.#limits = limits;
    this.#progress = progress;
    this.#deadline = setTimeout(() => this.#stop(this.#tooLong()), limits.fileMs);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get outcome(): GroupOutcome {
    const [files, durationMs, counts] = [this.#files, this.#durationMs, this.#counts];
    return { files, durationMs, counts, failures: this.#failures, output: this.#output };
  }

  start(event: TestEvent): void {
    if (isGroup(event)) return;
    this.#seen.set(event.testId, event);
    this.#running.set(event.testId, event);
    if (this.#isFile(event)) this.#deadline.refresh();
  }

  complete(event: TestEvent): void {
    if (isGroup(event)) return;
    this.#running.delete(event.testId);
    // Not between two tests: one that keeps its process busy sends no event until it ends.
    if (this.#isFile(event)) this.#filesLeft.delete(event.name);
    if (this.#filesLeft.size > 0) return;
    clearTimeout(this.#linger);
    this.#linger = setTimeout(
      () => this.#stop('Its tests have ended, but the process has not: a connection, server or timer was left open.'),
      this.#limits.lingerMs,
    );
  }

  pass(event: EndEvent): void {
    if (isGroup(event)) return;
    if (!this.#isFile(event)) return this.#count(event, 'passed', event.details.type !== 'suite');
    this.#endFile(event, true);
    if (!this.#filesWithTests.has(event.name)) this.#fail(event.name, 'There is no test in it.');
  }

  fail(event: EndEvent & EventData.TestFail): void {
    const { error } = event.details;
    const { failureType } = error as { failureType?: string };
    if (isGroup(event)) {
      if (failureType !== 'subtestsFailed') this.#fail(undefined, this.#endedBecause ?? this.#describeExit(error));
      return;
    }
    // Suites that failed because of what is in them say nothing new.
    const isNew = failureType !== 'subtestsFailed';
    if (this.#isFile(event)) this.#endFile(event, false);
    else this.#count(event, isCancelled(failureType) ? 'cancelled' : 'failed', isNew);
    if (this.#isFile(event) && isNew) this.#fail(event.name, error.cause ?? error);
    if (this.#isFile(event) || !isNew) return;
    const [file, ...titles] = this.#titlesOf(event);
    this.#failures.push({ file, titles, line: event.line, reason: error.cause ?? error });
  }

  write(text: string): void {
    this.#output = (this.#output + text).slice(-outputCharactersMax);
  }

  end(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#linger);
  }

  #isFile({ parentId }: TestEvent): boolean {
    return parentId === undefined || !this.#seen.has(parentId);
  }

  #endFile({ name, details }: EndEvent, isOk: boolean): void {
    this.#durationMs.set(name, details.duration_ms);
    this.#progress?.fileEnded(name, details.duration_ms, isOk);
  }

  /** Suites are no tests, unless they failed by themselves or were left out, which took their tests along. */
  #count(event: EndEvent, otherwise: 'passed' | 'failed' | 'cancelled', isTest: boolean): void {
    this.#filesWithTests.add(this.#titlesOf(event)[0] ?? '');
    if (event.details.type === 'suite') this.#counts.suites += 1;
    if (event.skip !== undefined) this.#add('skipped');
    else if (event.todo !== undefined) this.#add('todo');
    else if (isTest) this.#add(otherwise);
  }

  #add(what: 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo'): void {
    this.#counts.tests += 1;
    this.#counts[what] += 1;
  }

  /** What is wrong with a whole file or group counts as one test. */
  #fail(file: string | undefined, reason: unknown): void {
    this.#failures.push({ file, titles: [], line: undefined, reason });
    this.#add('failed');
  }

  #stop(reason: string): void {
    this.#endedBecause = reason;
    this.#abort.abort();
  }

  #tooLong(): string {
    return `It took longer than ${this.#limits.fileMs / 1000} s.${this.#stillRunning()}`;
  }

  #describeExit(error: Error): string {
    const { exitCode, signal } = error as { exitCode?: number; signal?: string | null };
    if (signal) return `Its process was ended by ${signal}.${this.#stillRunning()}`;
    if (exitCode === undefined) return error.message;
    return `Its process ended with code ${exitCode}; what it wrote says more.${this.#stillRunning()}`;
  }

  #stillRunning(): string {
    const all = [...this.#running.values()];
    const innermost = all.filter(({ testId }) => !all.some(({ parentId }) => parentId === testId));
    const names = innermost.map((event) => {
      const [file = '', ...titles] = this.#titlesOf(event);
      return [relative(process.cwd(), file), ...titles].join(' › ');
    });
    return names.length > 0 ? ` Still running: ${names.join('; ')}.` : '';
  }

  /** From the file down to the test. */
  #titlesOf(event: TestEvent): string[] {
    const parent = event.parentId === undefined ? undefined : this.#seen.get(event.parentId);
    return [...(parent ? this.#titlesOf(parent) : []), event.name];
  }
}

function isCancelled(failureType: string | undefined): boolean {
  return failureType === 'cancelledByParent' || failureType === 'testAborted';
}

function isGroup({ name }: TestEvent): boolean {
  return name === groupProgram;
}
