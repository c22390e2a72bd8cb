import { relative } from 'node:path';
import { inspect } from 'node:util';
import type { Counts, Failure, GroupOutcome } from './outcome.ts';

const slowestMax = 10;
// A failure says what it has to say in its first lines; a wall of them hides the next one.
const linesMax = 100;

/** Everything about a group that did not pass: each failure in full, then what the process wrote. */
export function describeFailures({ files, failures, output }: GroupOutcome, repository: string): string {
  const paths = files.map((file) => relative(repository, file)).join(', ');
  const parts = failures.map((failure) => describeFailure(failure, paths, repository));
  if (output.trim() !== '') parts.push(`  what ${paths} wrote:\n${excerpt(output, '    ')}`);
  return parts.join('\n');
}

function describeFailure(failure: Failure, paths: string, repository: string): string {
  return `${nameFailure(failure, paths, repository)}\n${excerpt(describeReason(failure.reason), '    ')}`;
}

/** A line with the file and the test. */
export function nameFailures({ files, failures }: GroupOutcome, repository: string): string {
  const paths = files.map((file) => relative(repository, file)).join(', ');
  return failures.map((failure) => nameFailure(failure, paths, repository)).join('\n');
}

function nameFailure({ file, titles, line }: Failure, paths: string, repository: string): string {
  const path = file === undefined ? paths : relative(repository, file);
  const place = line === undefined ? path : `${path}:${line}`;
  return `✖ ${[place, ...titles].join(' › ')}`;
}

function describeReason(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  // An assertion's message shows the difference already; its other fields repeat it.
  const isAssertion = reason instanceof Error && 'code' in reason && reason.code === 'ERR_ASSERTION';
  const text = isAssertion ? (reason.stack ?? reason.message) : inspect(reason, { depth: 5 });
  return text
    .split('\n')
    .filter((line) => !/^\s+at .*\(?node:(internal|test)/.test(line))
    .join('\n');
}

export function describeSlowest(outcomes: readonly GroupOutcome[], repository: string): string {
  const all = outcomes.flatMap(({ durationMs }) => [...durationMs]);
  const slowest = all.toSorted(([, left], [, right]) => right - left).slice(0, slowestMax);
  const lines = slowest.map(([file, ms]) => `${seconds(ms).padStart(9)} ${relative(repository, file)}`);
  return ['slowest files', ...lines].join('\n');
}

/** The lines that node's own reporters end with. */
export function describeCounts(counts: Counts, durationMs: number): string {
  return [
    `ℹ tests ${counts.tests}`,
    `ℹ suites ${counts.suites}`,
    `ℹ pass ${counts.passed}`,
    `ℹ fail ${counts.failed}`,
    `ℹ cancelled ${counts.cancelled}`,
    `ℹ skipped ${counts.skipped}`,
    `ℹ todo ${counts.todo}`,
    `ℹ duration_ms ${durationMs}`,
  ].join('\n');
}

/** Text to stand under a heading, cut when it is long. */
export function excerpt(text: string, indentation: string): string {
  const lines = text.trim().split('\n');
  const kept =
    lines.length > linesMax ? [...lines.slice(0, linesMax), `… and ${lines.length - linesMax} lines more`] : lines;
  return kept.map((line) => (line === '' ? '' : indentation + line)).join('\n');
}

export function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

export function minutes(durationMs: number): string {
  const whole = Math.round(durationMs / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
