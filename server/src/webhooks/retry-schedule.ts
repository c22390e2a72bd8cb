import { addMs } from '../kit/clock.ts';
import type { OutboundResult } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The waits after the first, second, … attempt (docs/events.md, "Answering"): ten attempts over 75 hours and 35 minutes. */
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

// Receivers that failed together must not all be called again together.
const jitterPercent = 15;
const retryAfterMaxMs = 24 * hourMs;

/** What becomes of a delivery after an attempt. */
export type Verdict =
  | { status: 'delivered' }
  | { status: 'pending'; nextAttemptAt: Date }
  /** `gone`: the receiver asked never to be called again. */
  | { status: 'failed'; gone: boolean };

/** Only 2xx; a redirect is no success, because the merchant gave us this address and no other. */
export function isSuccess(result: OutboundResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status <= 299;
}

/** 410 ends it at once, everything else but success is tried again until the schedule ends. */
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
 * When to try again after this attempt (1 is the first), or null when it was the last. `retryAfterMs` is what the
 * receiver asked for: it can only make us come later, so that a small number does not use up the attempts in a minute.
 */
export function nextAttemptAt(
  random: Random,
  last: { attempt: number; endedAt: Date; retryAfterMs: number | null },
): Date | null {
  const delayMs = retryDelaysMs[last.attempt - 1];
  if (delayMs === undefined) return null;
  const askedMs = Math.min(last.retryAfterMs ?? 0, retryAfterMaxMs);
  return addMs(last.endedAt, Math.max(askedMs, withJitter(random, delayMs)));
}

/** Evenly spread around the delay. */
function withJitter(random: Random, delayMs: number): number {
  const range = Math.round((delayMs * jitterPercent) / 100);
  const chance = Buffer.from(random.bytes(4)).readUInt32BE(0) / 2 ** 32;
  return delayMs - range + Math.floor(chance * (2 * range + 1));
}
