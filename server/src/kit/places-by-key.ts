import { AppError } from './app-error.ts';

export interface PlacesLimits {
  /** At once for one key. */
  placesMax: number;
  /** Waiting for a place of one key; whoever comes then is sent away. */
  waitingMax: number;
}

interface Queue {
  taken: number;
  readonly waiting: (() => void)[];
}

/**
 * A few places for each key, given in the order in which they were asked for. It keeps what one key makes wait out of what
 * all keys share: whoever waits here holds nothing.
 */
export class PlacesByKey {
  readonly #limits: PlacesLimits;
  readonly #queues = new Map<string, Queue>();

  constructor(limits: PlacesLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `body` in a place of `key`, which is free again when it has ended, however it ended. Throws AppError
   * `unavailable` with `full` as its sentence, without having run anything, where too many wait.
   */
  async run<Result>(key: string, full: string, body: () => Promise<Result>): Promise<Result> {
    await this.#enter(key, full);
    try {
      return await body();
    } finally {
      this.#leave(key);
    }
  }

  /** Keys for which somebody has a place; the others are forgotten. */
  get keysInUse(): number {
    return this.#queues.size;
  }

  async #enter(key: string, full: string): Promise<void> {
    const queue = this.#queues.get(key) ?? { taken: 0, waiting: [] };
    this.#queues.set(key, queue);
    if (queue.taken < this.#limits.placesMax) {
      queue.taken += 1;
      return;
    }
    if (queue.waiting.length >= this.#limits.waitingMax) {
      throw new AppError('unavailable', full, { retryAfterSeconds: 1 });
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.waiting.push(resolve);
    await promise;
  }

  /** The place goes from hand to hand while somebody waits, so that nobody who comes just then gets before them. */
  #leave(key: string): void {
    const queue = this.#queues.get(key);
    if (!queue) return;
    const next = queue.waiting.shift();
    if (next) return next();
    queue.taken -= 1;
    if (queue.taken === 0) this.#queues.delete(key);
  }
}
