import { readdirSync, readFileSync } from 'node:fs';
import { elapse } from './elapse.ts';

/** What a process holds, at a time since the sampling began. */
export interface ProcessSample {
  atMs: number;
  residentMiB: number;
  openFiles: number;
}

const sampleEveryMs = 10_000;

/** Samples a process every ten seconds until it is stopped. */
export function sampleProcess(pid: number): { stop(): Promise<ProcessSample[]> } {
  const stopped = new AbortController();
  const samples: ProcessSample[] = [];
  const began = performance.now();
  const sampling = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      samples.push({ atMs: performance.now() - began, residentMiB: residentMiB(pid), openFiles: openFiles(pid) });
      await elapse(sampleEveryMs, stopped.signal);
    }
  })();
  return {
    stop: async () => {
      stopped.abort();
      await sampling;
      return samples;
    },
  };
}

function residentMiB(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

export interface Slope {
  perHour: number;
  /** The standard error of `perHour`. */
  error: number;
}

/**
 * How fast the memory of a process grows, by least squares through the lowest sample of each block of time: between two collections of
 * garbage memory grows always, and neighbouring samples are not independent of each other.
 */
export function memorySlope(samples: readonly ProcessSample[], blockMs: number): Slope {
  const blocks = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / blockMs));
  const points = [...blocks.values()].map((block) =>
    block.reduce((lowest, sample) => (sample.residentMiB < lowest.residentMiB ? sample : lowest)),
  );
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const hours = points.map(({ atMs }) => atMs / 3_600_000);
  const middle = { hours: mean(hours), resident: mean(points.map(({ residentMiB: resident }) => resident)) };
  const spread = hours.reduce((sum, hour) => sum + (hour - middle.hours) ** 2, 0);
  const product = (index: number): number =>
    ((hours[index] ?? 0) - middle.hours) * ((points[index]?.residentMiB ?? 0) - middle.resident);
  const perHour = hours.reduce((sum, _, index) => sum + product(index), 0) / spread;
  const residuals = points.map(
    ({ residentMiB: resident }, index) => resident - middle.resident - perHour * ((hours[index] ?? 0) - middle.hours),
  );
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0);
  return { perHour, error: Math.sqrt(squares / (points.length - 2) / spread) };
}
