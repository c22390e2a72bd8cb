import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

/**
 * `unproven`: not known yet. `quick`: it responds within a second. `slow`: it does not. A queue starts as unproven in each
 * process, and again when it was not used for very long.
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

/** How many requests of a queue may be under way at once. */
export interface ConcurrencyLimits {
  /** Before the first response. */
  initial: number;
  /** What every quick queue has. */
  usual: number;
  /** What a backlog can raise it to. */
  quickMax: number;
  /** Where responses come, but slowly. */
  slowMax: number;
  /** Where none come: enough to notice when they do again. */
  hangingMin: number;
}

/** Makes a call, and notes how long it took and whether it was answered. */
export type WatchCall = <Response>(
  send: () => Promise<Response>,
  hasResponded: (response: Response) => boolean,
) => Promise<Response>;

/** A receiver that only stores what it gets and responds takes no longer, wherever it is. */
const quickMs = 1_000;
// Bounded, because one for each queue that was ever used would grow with the number of merchants.
const queuesMax = 10_000;

/** How many requests may be under way at once: more after quick responses, fewer after slow or missing ones. */
export class AdaptiveConcurrency {
  readonly #limits: ConcurrencyLimits;
  #speed: Speed = 'unproven';
  #limit: number;
  /** When each request under way began, oldest first. */
  readonly #underWay = new Map<object, number>();

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
    this.#limit = limits.initial;
  }

  /** A queue in which a request has waited for long is slow even before that request ends. */
  current(nowMs: number): { speed: Speed; limit: number } {
    const [oldestMs] = this.#underWay.values();
    const isHanging = oldestMs !== undefined && nowMs - oldestMs > quickMs;
    if (this.#speed === 'slow' || !isHanging) return { speed: this.#speed, limit: this.#limit };
    return { speed: 'slow', limit: Math.min(this.#limit, this.#limits.initial) };
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

  /**
   * Makes a call of a task, many of which share their other steps: so with more due than is under way, each quick response raises the
   * limit, however few calls are.
   */
  async watch<Response>(
    {
      clock,
      hasBacklog,
      observeMs,
    }: { clock: Clock; hasBacklog: () => boolean; observeMs: (durationMs: number) => void },
    ...[send, hasResponded]: [send: () => Promise<Response>, hasResponded: (response: Response) => boolean]
  ): Promise<Response> {
    const beganAtMs = clock.now().getTime();
    const request = {};
    this.begin(request, beganAtMs);
    try {
      const response = await send();
      const durationMs = clock.now().getTime() - beganAtMs;
      this.note({ durationMs, responded: hasResponded(response), atLimit: hasBacklog() });
      observeMs(durationMs);
      return response;
    } finally {
      this.#underWay.delete(request);
    }
  }

  note({ durationMs, responded, atLimit }: AttemptTiming): void {
    if (durationMs > quickMs) {
      if (responded) this.#noteSlow();
      else this.#decrease(this.#limits.hangingMin);
      return;
    }
    // Refused or reset at once: that costs nothing and proves nothing.
    if (!responded) return;
    this.#speed = 'quick';
    if (this.#limit < (atLimit ? this.#limits.quickMax : this.#limits.usual)) this.#limit += 1;
  }

  /** Nothing is left to send: the next backlog has to raise the limit again. */
  endBacklog(): void {
    this.#limit = Math.min(this.#limit, this.#limits.usual);
  }

  #noteSlow(): void {
    if (this.#speed === 'quick') this.#decrease(this.#limits.initial);
    else {
      this.#speed = 'slow';
      this.#limit = Math.min(this.#limits.slowMax, this.#limit + 1);
    }
  }

  /** Halves it, so that a single late response costs a quick queue little. */
  #decrease(min: number): void {
    this.#limit = Math.max(min, Math.floor(this.#limit / 2));
    if (this.#speed !== 'quick' || this.#limit === min) this.#speed = 'slow';
  }
}

/** The concurrencies of a process's queues; the least recently used are dropped. */
export class AdaptiveConcurrencies {
  readonly #limits: ConcurrencyLimits;
  readonly #byKey = new BoundedMap<string, AdaptiveConcurrency>(queuesMax);

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  get(key: string): AdaptiveConcurrency {
    const concurrency = this.#byKey.get(key) ?? new AdaptiveConcurrency(this.#limits);
    this.#byKey.delete(key);
    this.#byKey.set(key, concurrency);
    return concurrency;
  }
}
