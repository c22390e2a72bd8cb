import { addMs, hourMs } from '../kit/clock.ts';

// Soon, since most networks are back within seconds, and then for a day: one that is down for minutes sends nobody's hint again. What
// it does not say in that time its statement says.
const soonAttemptsMax = 5n;
const hourlyAttemptsMax = 24n;

/** How often a look-up that is claimed now has been made before, by any process. */
export function earlierLookUps({ attempts }: { attempts: bigint }): number {
  return Number(attempts) - 1;
}

/**
 * When to look next whether a network has reversed what it had reported as a success: the first of the times after `since`,
 * the success, that is still to come; null after the last. Networks without a callback for it have such times
 * (`recheckAfterMs`).
 */
export function nextRecheckAt(recheckAfterMs: readonly number[], since: Date, now: Date): Date | null {
  return recheckAfterMs.map((afterMs) => addMs(since, afterMs)).find((at) => at > now) ?? null;
}

/**
 * When to look up again what has ended, after a look-up without a clear response; null after about a day of them. Whoever hinted at
 * a change may not do so again.
 */
export function retryRecheckAt(
  { attempts }: { attempts: bigint },
  lookUpDelaysMs: readonly number[],
  now: Date,
): Date | null {
  if (attempts > soonAttemptsMax + hourlyAttemptsMax) return null;
  if (attempts > soonAttemptsMax) return addMs(now, hourMs);
  return addMs(now, lookUpDelaysMs[Math.min(Number(attempts), lookUpDelaysMs.length - 1)] ?? hourMs);
}
