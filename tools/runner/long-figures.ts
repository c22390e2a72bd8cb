import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndedFile } from './test-report.ts';

/** The last long run of a test file. */
export interface LongFigure {
  date: string;
  commit: string;
  /** Of the sources that were tested, committed or not. */
  sources: string;
  seconds: number;
  isOk: boolean;
  /** What its tests measured. */
  figures: readonly string[];
}

export type LongFigures = Readonly<Record<string, LongFigure>>;

const figuresPath = 'benchmarks/long-run.json';
// What a long run writes itself.
const written = [figuresPath, 'docs/promises.md'];

/** The last figures of each test file, by its path. */
export function readLongFigures(repository: string): LongFigures {
  const path = join(repository, figuresPath);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as LongFigures) : {};
}

/** Replaces the figures of these files; the others stay, each with its own date and commit. */
export function recordLongFigures(repository: string, files: readonly EndedFile[], date: string): void {
  const [commit, sources] = [git(repository, 'rev-parse', '--short', 'HEAD').trim(), hashOfSources(repository)];
  const figures = { ...readLongFigures(repository) };
  for (const { path, durationMs, isOk, figures: measured } of files) {
    const seconds = Math.round(durationMs / 1_000);
    figures[path] = { date, commit, sources, seconds, isOk, figures: measured };
  }
  const inOrder = Object.entries(figures).toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeFileSync(join(repository, figuresPath), `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`);
}

/** Changes with every file of the repository, committed or not, but those that a long run writes. */
export function hashOfSources(repository: string): string {
  const without = written.map((path) => `:!${path}`);
  const listed = git(repository, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', '.', ...without);
  const hash = createHash('sha256');
  for (const path of [...new Set(listed.split('\0'))].toSorted()) {
    const file = join(repository, path);
    if (path !== '' && existsSync(file)) hash.update(`${path}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex').slice(0, 12);
}

function git(repository: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
