import { relative } from 'node:path';
import { inspect } from 'node:util';
import type { Counts, Failure, FileOutcome } from './outcome.ts';

const slowestMax = 5;
// A failure says what it has to say in its first lines; a wall of them hides the next one.
const linesMax = 100;

/** Everything about one file that did not pass: each failure in full, then what the file wrote. */
export function describeFailures({ file, failures, output }: FileOutcome, repository: string): string {
  const path = relative(repository, file);
  const parts = failures.map((failure) => describeFailure(failure, path));
  if (output.trim() !== '') parts.push(`  what it wrote:\n${excerpt(output, '    ')}`);
  return parts.join('\n');
}

function describeFailure({ titles, line, reason }: Failure, path: string): string {
  const place = line === undefined ? path : `${path}:${line}`;
  return `✖ ${[place, ...titles].join(' › ')}\n${excerpt(describeReason(reason), '    ')}`;
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

export function describeSlowest(outcomes: readonly FileOutcome[], repository: string): string {
  const slowest = outcomes.toSorted((left, right) => right.durationMs - left.durationMs).slice(0, slowestMax);
  const lines = slowest.map(
    ({ file, durationMs }) => `${seconds(durationMs).padStart(9)} ${relative(repository, file)}`,
  );
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
