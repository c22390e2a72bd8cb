import type { OutboundResult } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';
import { nextAttemptAt } from './retry-schedule.ts';

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
