import { BoundedMap } from '../kit/bounded-map.ts';

/**
 * `unproven`: nobody knows yet. `quick`: it answers, and soon. `slow`: it lets requests wait. A lane starts again as
 * unproven in each process, and after it has been quiet for very long.
 */
export type LaneStanding = 'unproven' | 'quick' | 'slow';

/** How an attempt went, as far as it says how the next one will. */
export interface PaceNote {
  durationMs: number;
  /** Whether any HTTP answer came. */
  answered: boolean;
  /** Whether every request that the lane may have under way was, so that it could use more. */
  atLimit: boolean;
}

/** Longer than this a receiver that stores the event and answers does not take, wherever it is. */
export const quickMs = 1_000;
export const allowances = {
  /** Before the first answer. */
  first: 4,
  /** What every lane that answers quickly has. */
  usual: 8,
  /** What a lane with a backlog can earn: with answers within 10 ms more than a process can send. */
  quickMax: 32,
  /** For one that answers, but takes its time. */
  slowMax: 8,
  /** For one that does not answer: it has to show when it does again. */
  hangingMin: 2,
};
// One for each lane that was ever used here would grow with the number of merchants.
const lanesKeptMax = 10_000;

/** How many requests a lane may have under way: it earns more by answering quickly and loses them by keeping us waiting. */
export class LanePace {
  #standing: LaneStanding = 'unproven';
  #allowance = allowances.first;

  get standing(): LaneStanding {
    return this.#standing;
  }

  get allowance(): number {
    return this.#allowance;
  }

  note({ durationMs, answered, atLimit }: PaceNote): void {
    if (durationMs > quickMs) {
      if (answered) this.#noteSlow();
      else this.#lose(allowances.hangingMin);
      return;
    }
    // Refused or reset at once: that costs nothing, and proves nothing.
    if (!answered) return;
    this.#standing = 'quick';
    if (this.#allowance < (atLimit ? allowances.quickMax : allowances.usual)) this.#allowance += 1;
  }

  /** Nothing is left to send: what a backlog had earned is earned again when there is one. */
  rest(): void {
    this.#allowance = Math.min(this.#allowance, allowances.usual);
  }

  #noteSlow(): void {
    if (this.#standing === 'quick') this.#lose(allowances.first);
    else {
      this.#standing = 'slow';
      this.#allowance = Math.min(allowances.slowMax, this.#allowance + 1);
    }
  }

  /** By halves, so that a single answer that was late costs a lane with many others little. */
  #lose(min: number): void {
    this.#allowance = Math.max(min, Math.floor(this.#allowance / 2));
    if (this.#standing !== 'quick' || this.#allowance === min) this.#standing = 'slow';
  }
}

/** The paces of a process's lanes; those that were used longest ago are forgotten. */
export class LanePaces {
  readonly #byKey = new BoundedMap<string, LanePace>(lanesKeptMax);

  of(laneKey: string): LanePace {
    const pace = this.#byKey.get(laneKey) ?? new LanePace();
    this.#byKey.delete(laneKey);
    this.#byKey.set(laneKey, pace);
    return pace;
  }
}
