import { addMs } from '../kit/clock.ts';

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
