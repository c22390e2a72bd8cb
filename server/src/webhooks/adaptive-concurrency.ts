import { BoundedMap } from '../kit/bounded-map.ts';

/**
 * `unproven`: nobody knows yet. `quick`: it answers, and soon. `slow`: it lets requests wait. An endpoint queue starts
 * again as unproven in each process, and after it has been quiet for very long.
 */
export type Speed = 'unproven' | 'quick' | 'slow';

/** How an attempt went, as far as it says how the next one will. */
export interface AttemptTiming {
  durationMs: number;
  /** Whether any HTTP answer came. */
  answered: boolean;
  /** Whether every request that could be under way was, so that the queue could use more. */
  atLimit: boolean;
}

/** Longer than this a receiver that stores the event and answers does not take, wherever it is. */
const quickMs = 1_000;
export const limits = {
  /** Before the first answer. */
  first: 4,
  /** What every endpoint that answers quickly has. */
  usual: 8,
  /** What one with a backlog can earn: with answers within 10 ms more than a process can send. */
  quickMax: 32,
  /** For one that answers, but takes its time. */
  slowMax: 8,
  /** For one that does not answer: it has to show when it does again. */
  hangingMin: 2,
};
// One for each endpoint that was ever used here would grow with the number of merchants.
const queuesMax = 10_000;

/** How many requests may be under way at once: a queue earns more by quick answers and loses them by keeping us waiting. */
export class AdaptiveConcurrency {
  #speed: Speed = 'unproven';
  #limit = limits.first;
  /** When each request under way began, the oldest first. */
  readonly #underWay = new Map<object, number>();

  /** At this moment. One in which a request has waited for long is slow before anybody knows how that request ends. */
  at(nowMs: number): { speed: Speed; limit: number } {
    const [oldestMs] = this.#underWay.values();
    const isHanging = oldestMs !== undefined && nowMs - oldestMs > quickMs;
    if (this.#speed === 'slow' || !isHanging) return { speed: this.#speed, limit: this.#limit };
    return { speed: 'slow', limit: Math.min(this.#limit, limits.first) };
  }

  /** A request goes out. */
  begin(request: object, nowMs: number): void {
    this.#underWay.set(request, nowMs);
  }

  /** It has ended; `null` where nothing went out. `hasBacklog`: more was waiting to be sent. */
  end(request: object, attempt: { durationMs: number; answered: boolean; hasBacklog: boolean } | null): void {
    if (attempt !== null) this.note({ ...attempt, atLimit: attempt.hasBacklog && this.#underWay.size >= this.#limit });
    this.#underWay.delete(request);
  }

  note({ durationMs, answered, atLimit }: AttemptTiming): void {
    if (durationMs > quickMs) {
      if (answered) this.#noteSlow();
      else this.#lose(limits.hangingMin);
      return;
    }
    // Refused or reset at once: that costs nothing, and proves nothing.
    if (!answered) return;
    this.#speed = 'quick';
    if (this.#limit < (atLimit ? limits.quickMax : limits.usual)) this.#limit += 1;
  }

  /** Nothing is left to send: what a backlog had earned is earned again when there is one. */
  rest(): void {
    this.#limit = Math.min(this.#limit, limits.usual);
  }

  #noteSlow(): void {
    if (this.#speed === 'quick') this.#lose(limits.first);
    else {
      this.#speed = 'slow';
      this.#limit = Math.min(limits.slowMax, this.#limit + 1);
    }
  }

  /** By halves, so that a single answer that was late costs an endpoint with many others little. */
  #lose(min: number): void {
    this.#limit = Math.max(min, Math.floor(this.#limit / 2));
    if (this.#speed !== 'quick' || this.#limit === min) this.#speed = 'slow';
  }
}

/** Those of a process's endpoint queues; what was used longest ago is forgotten. */
export class AdaptiveConcurrencies {
  readonly #byKey = new BoundedMap<string, AdaptiveConcurrency>(queuesMax);

  of(key: string): AdaptiveConcurrency {
    const concurrency = this.#byKey.get(key) ?? new AdaptiveConcurrency();
    this.#byKey.delete(key);
    this.#byKey.set(key, concurrency);
    return concurrency;
  }
}
