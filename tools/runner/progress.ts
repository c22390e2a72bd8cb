import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { minutes } from './text.ts';

/** The duration of each file in the last run, in milliseconds, by its path from the root of the repository. */
type Durations = Record<string, number>;

const durationsFile = 'node_modules/.cache/test-durations.json';
// Without a terminal a new line for the log, on a terminal one line that is overwritten.
const logEveryMs = 15_000;
const drawEveryMs = 1_000;

interface Screen {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows how many files have ended, and estimates the remaining time by the durations of the last run. */
export class Progress {
  readonly #repository: string;
  readonly #screen: Screen;
  readonly #waiting: Set<string>;
  readonly #filesMax: number;
  readonly #before: Durations;
  readonly #now: Durations = {};
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  #failedFiles = 0;

  constructor(repository: string, files: readonly string[], screen: Screen = process.stdout) {
    this.#repository = repository;
    this.#screen = screen;
    this.#waiting = new Set(files);
    this.#filesMax = files.length;
    this.#before = readDurations(repository);
    this.#timer = setInterval(() => this.#show(), screen.isTTY ? drawEveryMs : logEveryMs).unref();
  }

  fileEnded(file: string, durationMs: number, isOk: boolean): void {
    if (!this.#waiting.delete(file)) return;
    this.#now[relative(this.#repository, file)] = Math.round(durationMs);
    if (!isOk) this.#failedFiles += 1;
  }

  /** Prints a line. */
  note(text: string): void {
    this.#screen.write(this.#screen.isTTY ? `\r\u001B[K${text}\n` : `${text}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#show();
    if (this.#screen.isTTY) this.#screen.write('\n');
    writeDurations(this.#repository, { ...this.#before, ...this.#now });
  }

  /** Undefined until enough is done for an estimate. */
  remainingMs(elapsedMs: number): number | undefined {
    const known = Object.values(this.#before);
    const usualMs = known.length > 0 ? known.reduce((sum, ms) => sum + ms, 0) / known.length : 1_000;
    const weightOf = (path: string) => this.#before[path] ?? usualMs;
    const done = Object.keys(this.#now).reduce((sum, path) => sum + weightOf(path), 0);
    const rest = [...this.#waiting].reduce((sum, file) => sum + weightOf(relative(this.#repository, file)), 0);
    return done < rest / 20 ? undefined : (elapsedMs * rest) / done;
  }

  #show(): void {
    const elapsedMs = performance.now() - this.#startedMs;
    const remainingMs = this.remainingMs(elapsedMs);
    const parts = [
      `${this.#filesMax - this.#waiting.size} of ${this.#filesMax} test files`,
      ...(this.#failedFiles > 0 ? [`${this.#failedFiles} failed`] : []),
      `${minutes(elapsedMs)} elapsed`,
      ...(remainingMs === undefined || this.#waiting.size === 0 ? [] : [`about ${minutes(remainingMs)} left`]),
    ];
    this.#screen.write(this.#screen.isTTY ? `\r\u001B[K${parts.join(', ')}` : `${parts.join(', ')}\n`);
  }
}

function readDurations(repository: string): Durations {
  try {
    return JSON.parse(readFileSync(join(repository, durationsFile), 'utf8')) as Durations;
  } catch {
    // The first run, or a truncated file of a killed run: then all files count the same.
    return {};
  }
}

function writeDurations(repository: string, durations: Durations): void {
  try {
    mkdirSync(dirname(join(repository, durationsFile)), { recursive: true });
    writeFileSync(join(repository, durationsFile), JSON.stringify(durations));
  } catch {
    // It only improves the next estimate.
  }
}
