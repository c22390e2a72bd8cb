/**
 * Imported by a process ahead of its program (`node --import`): on SIGHUP it prints what it holds and how long its event loop was
 * kept busy since the last time, as `watched <JSON of WatchedFigures>`.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface WatchedFigures {
  residentMiB: number;
  /** At p99.9, and the longest. */
  delayMs: number;
  longestMs: number;
  /** How often it was measured. */
  samples: number;
}

const nanosPerMs = 1e6;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

process.on('SIGHUP', () => {
  const figures: WatchedFigures = {
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    delayMs: delays.percentile(99.9) / nanosPerMs,
    longestMs: delays.max / nanosPerMs,
    samples: delays.count,
  };
  delays.reset();
  process.stdout.write(`watched ${JSON.stringify(figures)}\n`);
});
