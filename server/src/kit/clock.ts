/** Where every part of the service takes the time from, so that tests and simulations can move it. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  // By hand, because timers/promises makes an error with its stack for each sleep that ends early: each time limit that
  // was kept cost 40 µs.
  sleep: (ms, signal) => {
    if (signal?.aborted === true) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
    return promise;
  },
};

/** The moment `ms` milliseconds after `date` (before it, when negative). */
export function addMs(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/** The UTC day of `at`, `2026-11-20`. UTC is the time of The Gambia. */
export function utcDay(time: Date): string {
  return time.toISOString().slice(0, 'YYYY-MM-DD'.length);
}
