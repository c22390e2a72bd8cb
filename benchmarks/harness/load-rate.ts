import { systemClock } from '../../server/src/kit/clock.ts';

export interface LoadRate {
  perSecond: number;
  seconds: number;
  /** Ends it before the seconds are over. */
  signal?: AbortSignal;
  /** Calls that are due beyond this number wait, and the wait counts. */
  concurrencyMax: number;
}

/**
 * Starts calls by the clock, whether or not earlier ones are done, so that a stalled service cannot hide it. Each gets
 * its due time, on the clock of `performance`.
 */
export async function atRate(
  { perSecond, seconds, signal, concurrencyMax }: LoadRate,
  begin: (dueAt: number) => Promise<void>,
): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  const beganAt = performance.now();
  const endsAt = beganAt + seconds * 1_000;
  for (let begun = 0; performance.now() < endsAt && signal?.aborted !== true;) {
    const dueAt = beganAt + (begun / perSecond) * 1_000;
    if (performance.now() >= dueAt && inFlight.size < concurrencyMax) {
      begun += 1;
      const running = begin(dueAt).finally(() => inFlight.delete(running));
      inFlight.add(running);
    } else await systemClock.sleep(1);
  }
  await Promise.all(inFlight);
}
