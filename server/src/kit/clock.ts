/** The only source of time in the service, so that tests and simulations can move it. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  // Not timers/promises: it creates an error with a stack for each sleep that is aborted, so each time limit that was met
  // cost 40 µs.
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

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The time `ms` milliseconds after `date` (before it, when negative). */
export function addMs(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}

/** How long ago a time was. */
export function secondsSince(clock: Pick<Clock, 'now'>, time: Date): number {
  return (clock.now().getTime() - time.getTime()) / 1_000;
}

/** The UTC day of a time, `2026-11-20`. UTC is the time of The Gambia. */
export function utcDay(time: Date): string {
  return time.toISOString().slice(0, 'YYYY-MM-DD'.length);
}
