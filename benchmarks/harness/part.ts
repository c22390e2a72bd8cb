import type { Bar } from './plot.ts';
import { whole } from './statistics.ts';
import type { Workbench } from './workbench.ts';

/** One measurement, which you can run alone by its name. */
export interface Part {
  name: string;
  title: string;
  /** What it measures and how, for readers of the results. */
  description: string;
  run(bench: Workbench): Promise<Measured>;
}

export interface Measured {
  figures: Figure[];
  bars: Bar[];
}

/** One line of a part's table. */
export interface Figure {
  label: string;
  value: string;
  aim?: { text: string; isMet: boolean };
}

/** A count of failures, which has to be 0. */
export function failureFigure(label: string, count: number): Figure {
  return { label, value: whole(count), aim: { text: '0', isMet: count === 0 } };
}

/** How long a part that can take longer than usual does: BENCH_MINUTES, where it is set. */
export function secondsOf({ usual }: { usual: number }): number {
  const minutes = process.env['BENCH_MINUTES'];
  return minutes === undefined ? usual : Number(minutes) * 60;
}
