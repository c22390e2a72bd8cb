import { addMs } from '../kit/clock.ts';
import type { OutboundResult } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The waits after the first, second, … attempt (docs/events.md, "Responding"): ten attempts over 75 hours and 35 minutes. */
export const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

// Receivers that failed at the same time must not all be called again at the same time.
const jitterPercent = 15;
const retryAfterMaxMs = 24 * hourMs;

/** The result of an attempt for its delivery. */
export type Verdict =
  | { status: 'delivered' }
  | { status: 'pending'; nextAttemptAt: Date }
  /** `gone`: the receiver returned 410, which asks for no more requests. */
  | { status: 'failed'; gone: boolean };

/** Only 2xx; a redirect is no success, because the merchant registered this URL and no other. */
export function isSuccess(result: OutboundResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status <= 299;
}

/** 410 ends the delivery at once; any other failure is retried until the schedule ends. */
export function judgeAttempt(
  random: Random,
  attempt: { tryNumber: number; endedAt: Date; result: OutboundResult },
): Verdict {
  const { result, endedAt } = attempt;
  if (isSuccess(result)) return { status: 'delivered' };
  if (result.kind === 'answered' && result.status === 410) return { status: 'failed', gone: true };
  const retryAfterMs = result.kind === 'answered' ? result.retryAfterMs : null;
  const next = nextAttemptAt(random, { attempt: attempt.tryNumber, endedAt, retryAfterMs });
  return next === null ? { status: 'failed', gone: false } : { status: 'pending', nextAttemptAt: next };
}

/**
 * The time of the next attempt after this one (1 is the first), or null after the last. `retryAfterMs`, which the receiver
 * requested, can only make it later, so that a small number does not use up the attempts within a minute.
 */
export function nextAttemptAt(
  random: Random,
  last: { attempt: number; endedAt: Date; retryAfterMs: number | null },
): Date | null {
  const delayMs = retryDelaysMs[last.attempt - 1];
  if (delayMs === undefined) return null;
  const requestedMs = Math.min(last.retryAfterMs ?? 0, retryAfterMaxMs);
  return addMs(last.endedAt, Math.max(requestedMs, withJitter(random, delayMs)));
}

/** Evenly spread around the delay. */
function withJitter(random: Random, delayMs: number): number {
  const range = Math.round((delayMs * jitterPercent) / 100);
  const fraction = Buffer.from(random.bytes(4)).readUInt32BE(0) / 2 ** 32;
  return delayMs - range + Math.floor(fraction * (2 * range + 1));
}
