// The first lines of a failure are the useful ones; more would hide the next failure.
const linesMax = 100;

/** Indented text below a heading, cut when it is long. */
export function excerpt(text: string, indentation: string): string {
  const lines = text.trim().split('\n');
  const shown =
    lines.length > linesMax ? [...lines.slice(0, linesMax), `… and ${lines.length - linesMax} lines more`] : lines;
  return shown.map((line) => (line === '' ? '' : indentation + line)).join('\n');
}

export function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

export function minutes(durationMs: number): string {
  const whole = Math.round(durationMs / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
