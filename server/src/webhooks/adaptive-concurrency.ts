import { BoundedMap } from '../kit/bounded-map.ts';

/**
 * `unproven`: not known yet. `quick`: it responds within a second. `slow`: it does not. An endpoint queue starts as unproven
 * in each process, and again when it was not used for very long.
 */
export type Speed = 'unproven' | 'quick' | 'slow';

/** What an attempt shows about the next one. */
export interface AttemptTiming {
  durationMs: number;
  /** Whether an HTTP response came. */
  responded: boolean;
  /** Whether as many requests were under way as the limit allows, so that the queue could use more. */
  atLimit: boolean;
}

/** A receiver that only stores the event and responds takes no longer, wherever it is. */
const quickMs = 1_000;
export const limits = {
  /** Before the first response. */
  initial: 4,
  /** What every quick endpoint has. */
  usual: 8,
  /** What a backlog can raise it to: with responses within 10 ms, more than a process can send. */
  quickMax: 32,
  /** For an endpoint that responds, but slowly. */
  slowMax: 8,
  /** For an endpoint that does not respond: enough to notice when it does again. */
  hangingMin: 2,
};
// Bounded, because one for each endpoint that was ever used would grow with the number of merchants.
const queuesMax = 10_000;

/** How many requests may be under way at once: more after quick responses, fewer after slow or missing ones. */
export class AdaptiveConcurrency {
  #speed: Speed = 'unproven';
  #limit = limits.initial;
  /** When each request under way began, oldest first. */
  readonly #underWay = new Map<object, number>();

  /** A queue in which a request has waited for long is slow even before that request ends. */
  current(nowMs: number): { speed: Speed; limit: number } {
    const [oldestMs] = this.#underWay.values();
    const isHanging = oldestMs !== undefined && nowMs - oldestMs > quickMs;
    if (this.#speed === 'slow' || !isHanging) return { speed: this.#speed, limit: this.#limit };
    return { speed: 'slow', limit: Math.min(this.#limit, limits.initial) };
  }

  /** A request is sent. */
  begin(request: object, nowMs: number): void {
    this.#underWay.set(request, nowMs);
  }

  /** It has ended; `null` where nothing was sent. `hasBacklog`: more is waiting to be sent. */
  end(request: object, attempt: { durationMs: number; responded: boolean; hasBacklog: boolean } | null): void {
    if (attempt !== null) this.note({ ...attempt, atLimit: attempt.hasBacklog && this.#underWay.size >= this.#limit });
    this.#underWay.delete(request);
  }

  note({ durationMs, responded, atLimit }: AttemptTiming): void {
    if (durationMs > quickMs) {
      if (responded) this.#noteSlow();
      else this.#decrease(limits.hangingMin);
      return;
    }
    // Refused or reset at once: that costs nothing and proves nothing.
    if (!responded) return;
    this.#speed = 'quick';
    if (this.#limit < (atLimit ? limits.quickMax : limits.usual)) this.#limit += 1;
  }

  /** Nothing is left to send: the next backlog has to raise the limit again. */
  endBacklog(): void {
    this.#limit = Math.min(this.#limit, limits.usual);
  }

  #noteSlow(): void {
    if (this.#speed === 'quick') this.#decrease(limits.initial);
    else {
      this.#speed = 'slow';
      this.#limit = Math.min(limits.slowMax, this.#limit + 1);
    }
  }

  /** Halves it, so that a single late response costs a quick endpoint little. */
  #decrease(min: number): void {
    this.#limit = Math.max(min, Math.floor(this.#limit / 2));
    if (this.#speed !== 'quick' || this.#limit === min) this.#speed = 'slow';
  }
}

/** The concurrencies of a process's endpoint queues; the least recently used are dropped. */
export class AdaptiveConcurrencies {
  readonly #byKey = new BoundedMap<string, AdaptiveConcurrency>(queuesMax);

  get(key: string): AdaptiveConcurrency {
    const concurrency = this.#byKey.get(key) ?? new AdaptiveConcurrency();
    this.#byKey.delete(key);
    this.#byKey.set(key, concurrency);
    return concurrency;
  }
}
