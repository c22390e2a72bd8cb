import type { Bar } from './plot.ts';
import { whole } from './statistics.ts';
import type { Workbench } from './workbench.ts';

/** One measurement, which you can run alone by its name. */
export interface Part {
  name: string;
  title: string;
  /** What it measures and how, for readers of the results. */
  description: string;
  /** It compares with an earlier commit (BASELINE_CHECKOUT), so a run without names leaves it out. */
  needsBaseline?: true;
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

/** A checkout of an earlier commit, with its packages installed; undefined where none is named. */
export function baselineCheckout(): string | undefined {
  return process.env['BASELINE_CHECKOUT'];
}

/** How long a part that can take longer than usual does: BENCH_MINUTES, where it is set. */
export function secondsOf({ usual }: { usual: number }): number {
  const minutes = process.env['BENCH_MINUTES'];
  return minutes === undefined ? usual : Number(minutes) * 60;
}
