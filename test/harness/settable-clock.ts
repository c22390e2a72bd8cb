import { systemClock } from '../../server/src/kit/clock.ts';
import type { Clock } from '../../server/src/kit/clock.ts';

/**
 * Tells one moment until the test sets another; whoever sleeps sleeps as on any other day. What is due follows from the
 * moment alone, however slow the machine is, and loops and timeouts go on as in the service.
 */
export class SettableClock implements Clock {
  #now: Date;

  constructor(now: Date) {
    this.#now = now;
  }

  now(): Date {
    return new Date(this.#now);
  }

  set(now: Date): void {
    this.#now = now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }
}
