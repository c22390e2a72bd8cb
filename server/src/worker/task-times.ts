import { BoundedMap } from '../kit/bounded-map.ts';

// Bounded, because one for each merchant's queue would grow with the number of merchants.
const keysMax = 10_000;
// The last twenty tasks or so.
const retained = 0.95;

/** What the tasks of each key spend their time with: with calls of others, or with steps of this process. */
export class TaskTimes {
  readonly #byKey = new BoundedMap<string, { taskMs: number; callMs: number }>(keysMax);

  /** A task has ended, after so long; `callMs` of that it waited for the response to a call. */
  note(key: string, { taskMs, callMs }: { taskMs: number; callMs: number }): void {
    const sums = this.#byKey.get(key) ?? { taskMs: 0, callMs: 0 };
    this.#byKey.set(key, { taskMs: sums.taskMs * retained + taskMs, callMs: sums.callMs * retained + callMs });
  }

  /** The share of calls in the time of the last tasks; 0 before the first has ended. */
  callShare(key: string): number {
    const { taskMs, callMs } = this.#byKey.get(key) ?? { taskMs: 0, callMs: 0 };
    return taskMs === 0 ? 0 : callMs / taskMs;
  }
}
