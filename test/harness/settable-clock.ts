import { systemClock, type Clock } from '../../server/src/kit/clock.ts';

/**
 * Shows one time until the test sets another, while sleeps take real time. What is due depends on the set time alone,
 * however slow the machine is; loops and timeouts run as in production.
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
