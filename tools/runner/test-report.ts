import { join, relative } from 'node:path';
import type { EventData, run } from 'node:test';
import { inspect } from 'node:util';
import { describeTimes } from './processor-times.ts';
import { Progress } from './progress.ts';
import { excerpt, seconds } from './text.ts';

/** The program of each process. */
export const groupProgram = join(import.meta.dirname, 'group.ts');

/** Preloaded into all of them. */
export const testScopesProgram = join(import.meta.dirname, 'test-scopes.ts');

/** Preloaded into all of them, and into what they start. */
export const outsideCallsProgram = join(import.meta.dirname, 'outside-calls.js');

/** A test file that has ended. */
export interface EndedFile {
  /** From the root of the repository. */
  path: string;
  durationMs: number;
  isOk: boolean;
  /** What its tests measured: the texts that they gave to `context.diagnostic`. */
  figures: readonly string[];
}

export interface Verdict {
  passed: number;
  failed: number;
  files: readonly EndedFile[];
}

/** A test, a suite, a test file (a suite of its name) or the process of a group, as Node's runner reports it. */
interface Reported {
  name: string;
  testId: number;
  parentId: number | undefined;
  line?: number;
}

type EndError = Error & { failureType?: string; exitCode?: number; cause?: unknown };
type End = Reported & Pick<EventData.TestPass, 'skip' | 'todo'> & { details: EventData.TestPass['details'] };

/** Test files in one process. */
interface Group {
  /** Those that have begun. */
  files: string[];
  seen: Map<number, Reported>;
  /** Tests that have started and not ended. */
  open: Set<number>;
  filesWithTests: Set<string>;
  failures: string[];
  /** Whether its process failed, beyond its tests. */
  hasFailed: boolean;
  /** The end of what the process wrote. */
  output: string;
}

const slowestMax = 10;
const lastMax = 3;
const outputCharactersMax = 20_000;

/** Shows the progress of a test run and each failure as it happens; at the end the failures in full, the slowest files and counts. */
export class TestReport {
  readonly #repository: string;
  readonly #files: readonly string[];
  readonly #groups: Group[] = [];
  readonly #progress: Progress;
  readonly #durationMs = new Map<string, number>();
  readonly #failedFiles = new Set<string>();
  readonly #figures = new Map<string, string[]>();
  readonly #counts = { suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
  readonly #startedMs = performance.now();

  constructor(repository: string, files: readonly string[]) {
    this.#repository = repository;
    this.#files = files;
    this.#progress = new Progress(repository, files);
  }

  /** Collects the events of a process. */
  listen(stream: ReturnType<typeof run>): void {
    const group = newGroup();
    this.#groups.push(group);
    stream.on('test:dequeue', (event) => begin(group, event));
    stream.on('test:complete', ({ testId }) => group.open.delete(testId));
    stream.on('test:pass', (event) => this.#end(group, event));
    stream.on('test:fail', (event) => this.#end(group, event, event.details.error));
    stream.on('test:diagnostic', (event) => this.#note(event));
    stream.on('test:stdout', ({ message }) => write(group, message));
    stream.on('test:stderr', ({ message }) => write(group, message));
  }

  /** Calls that left this machine, as outside-calls.js writes them: together one more test, which failed. */
  failOutsideCalls(calls: string): void {
    if (calls === '') return;
    const group = newGroup();
    this.#groups.push(group);
    this.#fail(group, [outsideCallsProgram], new Error(`A test called another machine:\n${calls}`));
  }

  /**
   * Prints the results. A test that was cancelled, skipped or marked as todo counts as failed, because it protects nothing; so does
   * a file whose tests never ended. With directories of queues it ends with the processor times of the files.
   */
  end(directories: readonly string[] = []): Verdict {
    this.#progress.end();
    this.#failFilesThatNeverEnded();
    for (const group of this.#groups) {
      if (group.failures.length === 0) continue;
      console.log(`\n${group.failures.join('\n')}`);
      if (group.output.trim() === '') continue;
      console.log(`  what ${this.#filesOf(group)} wrote:\n${excerpt(group.output, '    ')}`);
    }
    const slowest = [...this.#durationMs].toSorted(([, left], [, right]) => right - left).slice(0, slowestMax);
    const lines = slowest.map(([file, ms]) => `${seconds(ms).padStart(9)} ${this.#pathOf(file)}`);
    console.log(['\nslowest files', ...lines, ''].join('\n'));
    if (directories.length > 0) console.log(`${describeTimes(directories, (file) => this.#pathOf(file))}\n`);
    const { suites, ...tests } = this.#counts;
    const total = Object.values(tests).reduce((sum, count) => sum + count, 0);
    const counts = { tests: total, suites, ...tests };
    for (const [name, count] of Object.entries(counts)) console.log(`ℹ ${name} ${count}`);
    console.log(`ℹ duration_ms ${performance.now() - this.#startedMs}`);
    if (tests.skipped + tests.todo > 0) console.log('Tests that were skipped or only planned count as failed.');
    const files = [...this.#durationMs].map(([file, durationMs]) => ({
      path: this.#pathOf(file),
      durationMs,
      isOk: !this.#failedFiles.has(file),
      figures: this.#figures.get(file) ?? [],
    }));
    return { passed: tests.pass, failed: total - tests.pass, files };
  }

  /** At nesting 0 a process reports its own counts. */
  #note({ file, message, nesting }: EventData.TestDiagnostic): void {
    if (file === undefined || nesting === 0) return;
    this.#figures.set(file, [...(this.#figures.get(file) ?? []), message]);
  }

  #end(group: Group, event: End, error?: EndError): void {
    // A suite that failed because of its tests adds nothing.
    const isNew = error?.failureType !== 'subtestsFailed';
    if (isProcess(event)) return error && isNew ? this.#endProcess(group, error) : undefined;
    const titles = titlesOf(group, event);
    const [file = ''] = titles;
    const isSuite = event.details.type === 'suite';
    if (titles.length === 1) this.#endFile(group, event, error);
    else if (isSuite) this.#counts.suites += 1;
    if (titles.length > 1) group.filesWithTests.add(file);
    // Suites are not counted as tests, unless they failed themselves or were skipped, with their tests.
    if (event.skip !== undefined) this.#counts.skipped += 1;
    else if (event.todo !== undefined) this.#counts.todo += 1;
    else if (!error && !isSuite) this.#counts.pass += 1;
    if (error && isNew) this.#fail(group, titles, error, event.line);
  }

  #endFile(group: Group, { name, details }: End, error: EndError | undefined): void {
    this.#durationMs.set(name, details.duration_ms);
    this.#progress.fileEnded(name, details.duration_ms, error === undefined);
    if (error) this.#failedFiles.add(name);
    if (!error && !group.filesWithTests.has(name)) this.#fail(group, [name], new Error('There is no test in it.'));
  }

  #failFilesThatNeverEnded(): void {
    // The failure of a process is reported already and names its files.
    const reported = new Set(this.#groups.filter(({ hasFailed }) => hasFailed).flatMap(({ files }) => files));
    const unfinished = this.#files.filter((file) => !this.#durationMs.has(file) && !reported.has(file));
    if (unfinished.length === 0) return;
    const group = newGroup(unfinished);
    this.#groups.push(group);
    for (const file of unfinished) this.#fail(group, [file], new Error('Its tests never ran to their end.'));
  }

  #endProcess(group: Group, error: EndError): void {
    group.hasFailed = true;
    const open = [...group.open].flatMap((testId) => group.seen.get(testId) ?? []);
    const innermost = open.filter(({ testId }) => !open.some(({ parentId }) => parentId === testId));
    const names = innermost.map((test) => this.#nameOf(titlesOf(group, test)));
    const how = error.exitCode === undefined ? error.message : `Its process ended with code ${error.exitCode}`;
    const running = names.length > 0 ? `, while it ran ${names.join('; ')}` : '';
    this.#fail(group, [], new Error(`${how}${running}; what it wrote says more.`));
  }

  #fail(group: Group, titles: readonly string[], error: EndError, line?: number): void {
    const { failureType } = error;
    const isCancelled = failureType === 'cancelledByParent' || failureType === 'testAborted';
    this.#counts[isCancelled ? 'cancelled' : 'fail'] += 1;
    const name = `✖ ${titles.length === 0 ? this.#filesOf(group) : this.#nameOf(titles, line)}`;
    group.failures.push(`${name}\n${excerpt(describeReason(error.cause ?? error), '    ')}`);
    this.#progress.note(name);
  }

  #nameOf([file = '', ...titles]: readonly string[], line?: number): string {
    const path = this.#pathOf(file);
    return [line === undefined ? path : `${path}:${line}`, ...titles].join(' › ');
  }

  /** The last ones: one of them is why their process ended. */
  #filesOf({ files }: Group): string {
    const last = files.slice(-lastMax).map((file) => this.#pathOf(file));
    const others = files.length - last.length;
    return `${last.join(', ')}${others > 0 ? ` (${others} other files ran before in this process)` : ''}`;
  }

  #pathOf(file: string): string {
    return relative(this.#repository, file);
  }
}

function newGroup(files: string[] = []): Group {
  return {
    files,
    seen: new Map(),
    open: new Set(),
    filesWithTests: new Set(),
    failures: [],
    hasFailed: false,
    output: '',
  };
}

function begin(group: Group, event: Reported): void {
  if (isProcess(event)) return;
  const isFile = event.parentId === undefined || !group.seen.has(event.parentId);
  if (isFile) group.files.push(event.name);
  group.seen.set(event.testId, event);
  group.open.add(event.testId);
}

function write(group: Group, text: string): void {
  group.output = (group.output + text).slice(-outputCharactersMax);
}

/** The process is reported as a test with its program's name, and with ids of its own. */
function isProcess({ name }: Reported): boolean {
  return name === groupProgram;
}

/** From the test file down to the test. */
function titlesOf(group: Group, { name, parentId }: Reported): string[] {
  const parent = parentId === undefined ? undefined : group.seen.get(parentId);
  return [...(parent ? titlesOf(group, parent) : []), name];
}

function describeReason(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  // An assertion's message has the difference already; its other fields repeat it.
  const isAssertion = reason instanceof Error && 'code' in reason && reason.code === 'ERR_ASSERTION';
  const text = isAssertion ? (reason.stack ?? reason.message) : inspect(reason, { depth: 5 });
  return text
    .split('\n')
    .filter((line) => !/^\s+at .*\(?node:(internal|test)/.test(line))
    .join('\n');
}
