import { addMs } from '../kit/clock.ts';
import type { UnavailableReason } from './contract.ts';

/**
 * A circuit breaker: what is known of how payouts fare for everybody at a network, for one merchant there, or for one
 * merchant's payouts to one number. Closed, payouts go out. Open, none does until `retryAt`. Half-open, one is under way
 * as a probe, and its outcome closes the breaker or opens it for longer.
 *
 * It counts failures in a row, not a share of the last minutes: a network that answers nobody shows after five sends at
 * any volume, and a row needs no window of samples that all processes would have to share.
 */
export interface CircuitBreaker extends BreakerKey {
  state: 'closed' | 'open' | 'half_open';
  /** Null while it is closed. */
  reason: UnavailableReason | null;
  openedAt: Date | null;
  /** When the next send may go out as a probe; while half-open, when the probe that is under way counts as lost. */
  retryAt: Date | null;
  failedTrials: bigint;
  /** Sends without an answer that could be understood, with no other answer between them. */
  failuresInARow: bigint;
  /** Whose sends these were: each once, and no more of them than it takes to open the breaker. */
  failedMerchants: readonly string[];
  /** Counts the writes; each is guarded by the one before it. */
  version: bigint;
}

/** Which breaker it is. */
export interface BreakerKey {
  network: string;
  testMode: boolean;
  /** What holds the money: a network fares differently for each account that we pay out from. */
  railAccount: string;
  /**
   * Empty for everybody, `<merchant id>` for one merchant, `<merchant id>:<canonical number>` for one merchant's payouts to
   * one number; never shown to anybody.
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
 * How a send ended. `answered` is every answer that shows the network to be working, refusals of the order included;
 * `unclear` is none, or one that is not understood; a reason is the network's own documented word that it takes nothing.
 */
export type SendOutcome = 'answered' | 'unclear' | UnavailableReason;

/**
 * How long to wait for the first probe, and at most, doubled by each that fails. A network that is away may be back in
 * seconds; an empty float waits for a person who fills it.
 */
const waits: Record<UnavailableReason, { firstMs: number; mostMs: number }> = {
  network_unavailable: { firstMs: 2_000, mostMs: 60_000 },
  float_empty: { firstMs: 30_000, mostMs: 600_000 },
};

// One timeout is an accident. More than a handful would be sent into the void, and each must then be looked up.
const failuresToOpen = 5n;
// One merchant's sends can fail for what only they have in common, such as a beneficiary's bank; a third one's cannot.
const merchantsToOpenForEverybody = 3;

/** A breaker against which nothing is known. */
export function closedBreaker({ network, testMode, railAccount, scope }: BreakerKey): CircuitBreaker {
  return { network, testMode, railAccount, scope, ...noFailures, version: 0n };
}

export function isOpen(breaker: CircuitBreaker): breaker is OpenBreaker {
  return breaker.state !== 'closed';
}

/** Nothing is known against it. */
export function isClear(breaker: CircuitBreaker): boolean {
  return breaker.state === 'closed' && breaker.failuresInARow === 0n;
}

/** What a merchant's send that ended makes of the breaker: the same object when it changes nothing. */
export function afterSend(
  breaker: CircuitBreaker,
  { outcome, merchantId }: { outcome: SendOutcome; merchantId: string },
  now: Date,
): CircuitBreaker {
  if (outcome === 'answered') return isClear(breaker) ? breaker : cleared(breaker);
  if (isOpen(breaker)) return breaker.state === 'half_open' ? reopened(breaker, outcome, now) : breaker;
  if (outcome !== 'unclear') return opened(breaker, outcome, now);
  const merchantsToOpen = breaker.scope === '' ? merchantsToOpenForEverybody : 1;
  const merchants = new Set([...breaker.failedMerchants, merchantId]);
  const failedMerchants = [...merchants].slice(0, merchantsToOpen);
  const failuresInARow = breaker.failuresInARow + 1n;
  const isEnough = failuresInARow >= failuresToOpen && failedMerchants.length >= merchantsToOpen;
  return isEnough ? opened(breaker, 'network_unavailable', now) : { ...breaker, failuresInARow, failedMerchants };
}

/**
 * What it makes of the breaker that a send proves to have arrived though its answer was lost: a network that pays without
 * answering works. Only of sends made since the breaker opened; earlier ones prove nothing of what came after them.
 */
export function afterArrival(breaker: CircuitBreaker, sentAt: Date): CircuitBreaker {
  return isOpen(breaker) && sentAt >= breaker.openedAt ? cleared(breaker) : breaker;
}

/** The probe goes out now; if nothing is heard of it until its lease ends, another one may. */
export function halfOpened(breaker: OpenBreaker, leaseEndsAt: Date): CircuitBreaker {
  return { ...breaker, state: 'half_open', retryAt: leaseEndsAt };
}

function opened(breaker: CircuitBreaker, reason: UnavailableReason, now: Date): CircuitBreaker {
  const retryAt = addMs(now, waits[reason].firstMs);
  return { ...cleared(breaker), state: 'open', reason, openedAt: now, retryAt };
}

/** Another reason than before starts its own waits from the beginning. */
function reopened(breaker: OpenBreaker, outcome: Exclude<SendOutcome, 'answered'>, now: Date): CircuitBreaker {
  const reason = outcome === 'unclear' ? breaker.reason : outcome;
  const failedTrials = reason === breaker.reason ? breaker.failedTrials + 1n : 0n;
  const { firstMs, mostMs } = waits[reason];
  // Past ten doublings every wait is at its most.
  const waitMs = Math.min(mostMs, firstMs * 2 ** Math.min(Number(failedTrials), 10));
  return { ...breaker, state: 'open', reason, retryAt: addMs(now, waitMs), failedTrials };
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
