import { AsyncLocalStorage } from 'node:async_hooks';
import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom, type Random } from '../kit/random.ts';

/** The time and the randomness of one story: several are played at once, each at a time of its own. */
class Moment implements Clock {
  time: Date;
  readonly random: Random;

  constructor(time: Date, random: Random) {
    this.time = time;
    this.random = random;
  }

  now(): Date {
    return new Date(this.time);
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * The clock and the randomness of demo data. Each story has its own moment in the past and its own seed, so that ids and times are
 * the same for the same seed, whichever of the stories that are played together is faster.
 */
export class DemoTime implements Clock {
  readonly #moments = new AsyncLocalStorage<Moment>();
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  readonly random: Random = { bytes: (count) => this.#current().random.bytes(count) };

  readonly newId = (): string => {
    const moment = this.#current();
    return uuidV7(moment, moment.random);
  };

  now(): Date {
    return this.#current().now();
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }

  /** Plays a story that begins at a time. Its name makes its seed: no two stories have the same. */
  play<Result>(name: string, time: Date, story: () => Promise<Result>): Promise<Result> {
    return this.#moments.run(new Moment(time, seededRandom(`${this.#seed} ${name}`)), story);
  }

  /** Moves the story on; never back. */
  moveTo(time: Date): void {
    const moment = this.#current();
    if (time > moment.time) moment.time = time;
  }

  moveBy(ms: number): void {
    this.moveTo(new Date(this.#current().time.getTime() + ms));
  }

  #current(): Moment {
    const moment = this.#moments.getStore();
    assert(moment, 'demo data is written inside a story only');
    return moment;
  }
}
