/** The middle of some figures: half are not above it. */
export function median(figures: readonly number[]): number {
  return percentile(figures, 50);
}

/** The smallest figure that `share` percent of all are not above; 0 where there are none. */
export function percentile(figures: readonly number[], percent: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

/** Latencies in milliseconds. */
export interface Latencies {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

export function latenciesOf(durationsMs: readonly number[]): Latencies {
  const sorted = Float64Array.from(durationsMs).toSorted();
  const percentileOf = (percent: number): number =>
    sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  return { p50Ms: percentileOf(50), p95Ms: percentileOf(95), p99Ms: percentileOf(99) };
}

/** `1,234` */
export function whole(figure: number): string {
  return Math.round(figure).toLocaleString('en');
}

/** `4.2 ms` */
export function inMs(figureMs: number): string {
  return `${figureMs.toFixed(figureMs < 10 ? 1 : 0)} ms`;
}
