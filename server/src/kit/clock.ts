import { setTimeout as delay } from 'node:timers/promises';

/** Where every part of the service takes the time from, so that tests and simulations can move it. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch {
      // An abort ends the wait early; whoever waits looks at the signal itself.
    }
  },
};

/** The moment `ms` milliseconds after `date` (before it, when negative). */
export function addMs(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/** The UTC day of `at`, `2026-11-20`. UTC is the time of The Gambia. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 'YYYY-MM-DD'.length);
}
