import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seconds } from './text.ts';

/** The processor time that a test file took. */
interface FileTimes {
  file: string;
  /** In the process that ran it, and in those that it started and that have ended: the browser, services. On Linux only. */
  ownMs: number;
  startedMs: number;
}

const timesName = 'times.jsonl';
// Linux counts the time of processes in hundredths of a second.
const tickMs = 10;

/** Measures the processor time of each test file in one process, for `readTimes`. */
export class ProcessorMeter {
  readonly #path: string;
  #before = { ownMs: 0, startedMs: 0 };

  constructor(directory: string) {
    this.#path = join(directory, timesName);
  }

  /** Once a file has ended. The first one's time has what starting the process and loading the application took. */
  note(file: string): void {
    const { user, system } = process.cpuUsage();
    const now = { ownMs: (user + system) / 1000, startedMs: readTimeOfChildren() };
    const times: FileTimes = {
      file,
      ownMs: now.ownMs - this.#before.ownMs,
      startedMs: now.startedMs - this.#before.startedMs,
    };
    appendFileSync(this.#path, `${JSON.stringify(times)}\n`);
    this.#before = now;
  }
}

function readTimeOfChildren(): number {
  if (process.platform !== 'linux') return 0;
  // After the program's name, which is in brackets, the state is the third field and the time of ended children the sixteenth.
  const [, rest = ''] = readFileSync('/proc/self/stat', 'utf8').split(/\) (?=[A-Z] )/);
  const fields = rest.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

/** A table of the files whose processes measured into these directories, the most expensive first. */
export function describeTimes(directories: readonly string[], pathOf: (file: string) => string): string {
  const times = directories.flatMap(readTimes).toSorted((one, other) => sumOf(other) - sumOf(one));
  const row = (ms: readonly number[], name: string) =>
    `${ms.map((each) => seconds(each).padStart(10)).join('')}  ${name}`;
  const total = [times.map(({ ownMs }) => ownMs), times.map(({ startedMs }) => startedMs)].map((each) =>
    each.reduce((sum, ms) => sum + ms, 0),
  );
  return [
    'Processor time without PostgreSQL: of the process that ran the tests, and of those that they started',
    ...times.map(({ ownMs, startedMs, file }) => row([ownMs, startedMs], pathOf(file))),
    row(total, `${times.length} files`),
  ].join('\n');
}

function readTimes(directory: string): FileTimes[] {
  try {
    const lines = readFileSync(join(directory, timesName), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as FileTimes);
  } catch {
    // Its process ended before its first file did; that is reported as a failure.
    return [];
  }
}

function sumOf({ ownMs, startedMs }: FileTimes): number {
  return ownMs + startedMs;
}
