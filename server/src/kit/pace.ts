import type { Clock } from './clock.ts';
import type { LimiterFigures } from './keyed-limiter.ts';
import { overloadError, type PublicError } from './public-error.ts';

/** What a claim of due work shows. */
export interface ClaimTiming {
  /** How many tasks it claimed. */
  count: number;
  /** For how long the first of them had been due. */
  lateMs: number;
  /** Whether this process is the reason that tasks wait, and not whom it calls for them. */
  isOwnDelay: boolean;
}

interface PaceOptions {
  /** In the metrics. */
  name: string;
  clock: Clock;
  /** From when on work is late. */
  lateAfterMs: number;
  /** How many may wait of one key; another one is refused. */
  waitingMax: number;
  message: string;
  /** Whether this process is at its limit, where what it calls seems slow too. Default: never. */
  isSaturated?: (() => boolean) | undefined;
}

interface LateKey {
  /** When a claim last found late work. */
  foundAtMs: number;
  /** How many more tasks were claimed than let on. */
  ahead: number;
  /** The first to come first. */
  readonly waiting: Waiter[];
}

interface Waiter {
  arrivedAtMs: number;
  letOn: () => void;
  refuse: () => void;
}

// Clients wait for longer; but nobody waits for so long that a client has left whose request is then carried out.
const waitMaxMs = 2_000;
// Work that is still late is claimed several times a second, but more rarely by a process at its limit. Where claims end because whom
// the process calls does not answer, those who wait go on after this time.
const lateForMs = { usual: 2_000, saturated: 30_000 };

/**
 * Lets those who add to a backlog on, each key by itself. While the work of a key is late because this process has too much to do,
 * they go on as fast as it is claimed, one for each task; the others wait, and cost the process nothing meanwhile.
 */
export class Pace implements LimiterFigures {
  readonly name: string;
  readonly #options: PaceOptions;
  readonly #late = new Map<string, LateKey>();
  #inUse = 0;
  #refused = 0;
  #hasEnded = false;

  constructor(options: PaceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Those who were let on and have not ended. */
  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return [...this.#late.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  get refused(): number {
    return this.#refused;
  }

  /** Runs `body` once it may go on. Throws `unavailable` when too many wait, or it has waited for too long. */
  async run<Result>(key: string, body: () => Promise<Result>): Promise<Result> {
    const late = this.#late.get(key);
    if (late) await this.#wait(late);
    this.#inUse += 1;
    try {
      return await body();
    } finally {
      this.#inUse -= 1;
    }
  }

  /** Tasks of the key were claimed. */
  noteClaim(key: string, { count, lateMs, isOwnDelay }: ClaimTiming): void {
    const isLate = count > 0 && lateMs >= this.#options.lateAfterMs && (isOwnDelay || this.#isSaturated);
    const known = this.#late.get(key);
    if (this.#hasEnded || !(known || isLate)) return;
    const late = known ?? { foundAtMs: 0, ahead: 0, waiting: [] };
    this.#late.set(key, late);
    if (isLate) late.foundAtMs = this.#nowMs;
    const next = late.waiting.splice(0, count);
    // Nobody waits to make up for more than one claim.
    late.ahead = next.length < count ? count - next.length : 0;
    for (const { letOn } of next) letOn();
  }

  /** Refuses who has waited for too long; lets on who waits for work that has not been late for a while. To be called each second. */
  expire(): void {
    const endsAfterMs = this.#isSaturated ? lateForMs.saturated : lateForMs.usual;
    for (const [key, { foundAtMs, waiting }] of this.#late) {
      if (this.#isPast(foundAtMs, endsAfterMs)) this.#end(key);
      else while (waiting[0] && this.#isPast(waiting[0].arrivedAtMs, waitMaxMs)) waiting.shift()?.refuse();
    }
  }

  /** Nobody waits from now on: nothing is claimed any more. */
  end(): void {
    this.#hasEnded = true;
    for (const key of this.#late.keys()) this.#end(key);
  }

  async #wait(late: LateKey): Promise<void> {
    if (late.ahead > 0) {
      late.ahead -= 1;
      return;
    }
    if (late.waiting.length >= this.#options.waitingMax) throw this.#refusal();
    await new Promise<void>((letOn, reject) => {
      late.waiting.push({ arrivedAtMs: this.#nowMs, letOn, refuse: () => reject(this.#refusal()) });
    });
  }

  #refusal(): PublicError {
    this.#refused += 1;
    return overloadError('unavailable', this.#options.message);
  }

  /** Whether so much time has passed, or the clock was set back. */
  #isPast(sinceMs: number, durationMs: number): boolean {
    const ageMs = this.#nowMs - sinceMs;
    return ageMs < 0 || ageMs >= durationMs;
  }

  #end(key: string): void {
    const waiting = this.#late.get(key)?.waiting ?? [];
    this.#late.delete(key);
    for (const { letOn } of waiting) letOn();
  }

  get #isSaturated(): boolean {
    return this.#options.isSaturated?.() ?? false;
  }

  get #nowMs(): number {
    return this.#options.clock.now().getTime();
  }
}
