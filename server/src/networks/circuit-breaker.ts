import { addMs } from '../kit/clock.ts';
import type { UnavailableReason } from './contract.ts';

/**
 * The circuit breaker of payouts at a network: for all merchants, for one merchant, or for one merchant's payouts to one
 * number. Closed: payouts are sent. Open: none is sent until `retryAt`. Half-open: one is in flight as a trial, and its
 * outcome closes the breaker or opens it for longer.
 *
 * It counts consecutive failures, not a failure rate: five sends detect a dead network at any volume, and there is no
 * window of samples for the processes to share.
 */
export interface CircuitBreaker extends BreakerKey {
  state: 'closed' | 'open' | 'half_open';
  /** Null while it is closed. */
  reason: UnavailableReason | null;
  openedAt: Date | null;
  /** Open: when the next trial may be sent. Half-open: when the trial in flight counts as lost. */
  retryAt: Date | null;
  failedTrials: bigint;
  /**
   * Consecutive sends without a response that could be understood. An open breaker retains the number that opened it, and has
   * none if a documented reason did.
   */
  failuresInARow: bigint;
  /** The merchants of these sends: each once, and no more of them than it takes to open the breaker. */
  failedMerchants: readonly string[];
  /** Incremented by each write; guards it against concurrent writes. */
  version: bigint;
}

/** Identifies a breaker. */
export interface BreakerKey {
  network: string;
  testMode: boolean;
  /** The account that we pay out from; the same network can work for one account and fail for another. */
  railAccount: string;
  /**
   * Empty for all merchants, `<merchant id>` for one merchant, `<merchant id>:<canonical number>` for one merchant's payouts
   * to one number. Never shown or logged.
   */
  scope: string;
}

/** A breaker that is open or half-open. */
export type OpenBreaker = CircuitBreaker & {
  state: 'open' | 'half_open';
  reason: UnavailableReason;
  openedAt: Date;
  retryAt: Date;
};

/**
 * How a send ended. `answered`: any response that shows the network to be working, refusals included. `unclear`: no
 * response, or one that is not understood. A reason: the network documents that it accepts no payouts.
 */
export type SendOutcome = 'answered' | 'unclear' | UnavailableReason;

/**
 * The wait before the first trial and the longest wait; each failed trial doubles it. A network that is down may be back in
 * seconds; an empty float waits until a person tops it up.
 */
const waits: Record<UnavailableReason, { firstMs: number; maxMs: number }> = {
  network_unavailable: { firstMs: 2_000, maxMs: 60_000 },
  float_empty: { firstMs: 30_000, maxMs: 600_000 },
};

// One timeout is an accident. Each further send to a network that is down would have to be looked up.
const failuresToOpen = 5n;
// Sends of one merchant can fail for a cause of their own, such as a beneficiary's bank; those of three hardly can.
const merchantsToOpenForAll = 3;

/** A breaker without failures. */
export function closedBreaker({ network, testMode, railAccount, scope }: BreakerKey): CircuitBreaker {
  return { network, testMode, railAccount, scope, ...noFailures, version: 0n };
}

export function isOpen(breaker: CircuitBreaker): breaker is OpenBreaker {
  return breaker.state !== 'closed';
}

/** Closed and without failures. */
export function isClear(breaker: CircuitBreaker): boolean {
  return breaker.state === 'closed' && breaker.failuresInARow === 0n;
}

/** The breaker after a merchant's send has ended; the same object if nothing changes. */
export function afterSend(
  breaker: CircuitBreaker,
  { outcome, merchantId }: { outcome: SendOutcome; merchantId: string },
  now: Date,
): CircuitBreaker {
  if (outcome === 'answered') return isClear(breaker) ? breaker : cleared(breaker);
  if (isOpen(breaker)) return breaker.state === 'half_open' ? reopened(breaker, outcome, now) : breaker;
  if (outcome !== 'unclear') return opened(breaker, outcome, now);
  const merchantsToOpen = breaker.scope === '' ? merchantsToOpenForAll : 1;
  const merchants = new Set([...breaker.failedMerchants, merchantId]);
  const failedMerchants = [...merchants].slice(0, merchantsToOpen);
  const failuresInARow = breaker.failuresInARow + 1n;
  const isEnough = failuresInARow >= failuresToOpen && failedMerchants.length >= merchantsToOpen;
  if (!isEnough) return { ...breaker, failuresInARow, failedMerchants };
  return { ...opened(breaker, 'network_unavailable', now), failuresInARow };
}

/**
 * The breaker after a send without a response proves to have arrived: a network that pays works, even if it does not respond.
 * Where a documented reason opened it, only sends made since count; where such sends opened it, also those that may be among
 * them, which are at most `silenceMs` older than its opening.
 */
export function afterArrival(
  breaker: CircuitBreaker,
  { sentAt, silenceMs }: { sentAt: Date; silenceMs: number },
): CircuitBreaker {
  if (isClear(breaker)) return breaker;
  const isOpenBySilence = breaker.failuresInARow > 0n;
  const since = isOpen(breaker) && addMs(breaker.openedAt, isOpenBySilence ? -silenceMs : 0);
  return since === false || sentAt >= since ? cleared(breaker) : breaker;
}

/** A trial is sent now; if it is not reported before its lease ends, another may be sent. */
export function halfOpened(breaker: OpenBreaker, leaseEndsAt: Date): CircuitBreaker {
  return { ...breaker, state: 'half_open', retryAt: leaseEndsAt };
}

function opened(breaker: CircuitBreaker, reason: UnavailableReason, now: Date): CircuitBreaker {
  const retryAt = addMs(now, waits[reason].firstMs);
  return { ...cleared(breaker), state: 'open', reason, openedAt: now, retryAt };
}

/** A new reason starts with its own first wait. */
function reopened(breaker: OpenBreaker, outcome: Exclude<SendOutcome, 'answered'>, now: Date): CircuitBreaker {
  const reason = outcome === 'unclear' ? breaker.reason : outcome;
  const failedTrials = reason === breaker.reason ? breaker.failedTrials + 1n : 0n;
  const { firstMs, maxMs } = waits[reason];
  // After ten doublings every wait has reached its maximum.
  const waitMs = Math.min(maxMs, firstMs * 2 ** Math.min(Number(failedTrials), 10));
  const failuresInARow = outcome === 'unclear' ? breaker.failuresInARow : 0n;
  return { ...breaker, state: 'open', reason, retryAt: addMs(now, waitMs), failedTrials, failuresInARow };
}

function cleared(breaker: CircuitBreaker): CircuitBreaker {
  return { ...breaker, ...noFailures };
}

const noFailures = {
  state: 'closed',
  reason: null,
  openedAt: null,
  retryAt: null,
  failedTrials: 0n,
  failuresInARow: 0n,
  failedMerchants: [],
} as const;
