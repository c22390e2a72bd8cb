import type { OutboundResult } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';
import { nextAttemptAt } from './retry-schedule.ts';

/** What becomes of a delivery after an attempt. */
export type Verdict =
  | { status: 'delivered' }
  | { status: 'pending'; nextAttemptAt: Date }
  /** `gone`: the receiver asked never to be called again. */
  | { status: 'failed'; gone: boolean };

/**
 * Only 2xx is success; a redirect is not one, because the merchant gave us this address and no other. 410 ends it at
 * once, everything else is tried again until the schedule ends.
 */
export function judgeAttempt(
  random: Random,
  attempt: { number: number; endedAt: Date; result: OutboundResult },
): Verdict {
  const { result } = attempt;
  if (result.kind === 'answered' && result.status >= 200 && result.status <= 299) return { status: 'delivered' };
  if (result.kind === 'answered' && result.status === 410) return { status: 'failed', gone: true };
  const retryAfterMs = result.kind === 'answered' ? result.retryAfterMs : null;
  const next = nextAttemptAt(random, { attempt: attempt.number, endedAt: attempt.endedAt, retryAfterMs });
  return next === null ? { status: 'failed', gone: false } : { status: 'pending', nextAttemptAt: next };
}
