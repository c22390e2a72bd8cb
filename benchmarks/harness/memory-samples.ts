import { systemClock } from '../../server/src/kit/clock.ts';
import { residentMib } from './process-figures.ts';
import { median } from './statistics.ts';

const sampleEveryMs = 250;

/** Samples the memory of a process until `stop`. */
export function sampleMemory(pid: number): { stop(): Promise<number[]> } {
  const ended = new AbortController();
  const sampling = sample(pid, ended.signal);
  return {
    stop: () => {
      ended.abort();
      return sampling;
    },
  };
}

/** Medians of the first and the last third, and their ratio. */
export interface Flatness {
  firstMib: number;
  lastMib: number;
  ratio: number;
}

export function flatness(samplesMib: readonly number[]): Flatness {
  const third = Math.max(1, Math.floor(samplesMib.length / 3));
  const firstMib = median(samplesMib.slice(0, third));
  const lastMib = median(samplesMib.slice(-third));
  return { firstMib, lastMib, ratio: lastMib / firstMib };
}

async function sample(pid: number, ended: AbortSignal): Promise<number[]> {
  const samplesMib: number[] = [];
  while (!ended.aborted) {
    samplesMib.push(residentMib(pid));
    await systemClock.sleep(sampleEveryMs, ended);
  }
  return samplesMib;
}
