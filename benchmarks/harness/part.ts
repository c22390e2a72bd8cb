import type { Bar } from './plot.ts';
import type { Workbench } from './workbench.ts';

/** One of the things that are measured; each can be run alone by its name. */
export interface Part {
  name: string;
  title: string;
  /** What is measured and how, for who reads the figures. */
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
