/** The median: half of the figures are not above it. */
export function median(figures: readonly number[]): number {
  return percentile(figures, 50);
}

/** The smallest figure that this percentage of all figures is not above; 0 where there are none. */
export function percentile(figures: readonly number[], percent: number): number {
  return percentileOf(Float64Array.from(figures).toSorted(), percent);
}

function percentileOf(sorted: Float64Array, percent: number): number {
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
  return { p50Ms: percentileOf(sorted, 50), p95Ms: percentileOf(sorted, 95), p99Ms: percentileOf(sorted, 99) };
}

/** `1,234` */
export function whole(figure: number): string {
  return Math.round(figure).toLocaleString('en');
}

/** `4.2 ms` */
export function inMs(figureMs: number): string {
  return `${figureMs.toFixed(figureMs < 10 ? 1 : 0)} ms`;
}
