import { addMs } from '../kit/clock.ts';
import type { PauseReason } from './contract.ts';

/**
 * What is known of how payouts fare at one point: a network, or one merchant's payouts to one number there. It is open
 * (`reason` is set) while no payout may go out but a probe now and then.
 */
export interface Pause {
  network: string;
  testMode: boolean;
  /** Empty for the whole network, else `<merchant id>:<canonical number>`; never shown to anybody. */
  scope: string;
  reason: PauseReason | null;
  since: Date | null;
  /** When the next send may go out as a probe; while one is under way, when it counts as lost. */
  retryAt: Date | null;
  isProbing: boolean;
  failedProbes: bigint;
  /** Sends without an answer that could be understood, with no other answer between them. */
  unclearInARow: bigint;
  /** Counts the writes; each is guarded by the one before it. */
  version: bigint;
}

/** A pause that is open. */
export type OpenPause = Pause & { reason: PauseReason; since: Date; retryAt: Date };

/**
 * How a send ended. `answered` is every answer that shows the network to be working, refusals of the order included;
 * `unclear` is none, or one that is not understood; a reason is the network's own documented word that it takes nothing.
 */
export type SendOutcome = 'answered' | 'unclear' | PauseReason;

/**
 * How long to wait for the first probe, and at most, doubled by each that fails. A network that is away may be back in
 * seconds; an empty float waits for a person who fills it.
 */
const waits: Record<PauseReason, { firstMs: number; mostMs: number }> = {
  network_unavailable: { firstMs: 2_000, mostMs: 60_000 },
  float_empty: { firstMs: 30_000, mostMs: 600_000 },
};

// One timeout is an accident. More than a handful would be sent into the void, and each must then be looked up.
const unclearInARowMax = 5n;

export function isOpen(pause: Pause): pause is OpenPause {
  return pause.reason !== null;
}

/** Nothing is known against the point. */
export function isClear(pause: Pause): boolean {
  return pause.reason === null && pause.unclearInARow === 0n;
}

/** What a send that ended makes of the pause: the same object when it changes nothing. */
export function afterSend(pause: Pause, outcome: SendOutcome, now: Date): Pause {
  if (outcome === 'answered') return isClear(pause) ? pause : cleared(pause);
  if (isOpen(pause)) return pause.isProbing ? prolonged(pause, outcome, now) : pause;
  if (outcome !== 'unclear') return opened(pause, outcome, now);
  const unclearInARow = pause.unclearInARow + 1n;
  if (unclearInARow < unclearInARowMax) return { ...pause, unclearInARow };
  return opened(pause, 'network_unavailable', now);
}

/** The probe goes out now; if nothing is heard of it until its lease ends, another one may. */
export function probed(pause: OpenPause, leaseEndsAt: Date): Pause {
  return { ...pause, isProbing: true, retryAt: leaseEndsAt };
}

function opened(pause: Pause, reason: PauseReason, now: Date): Pause {
  const retryAt = addMs(now, waits[reason].firstMs);
  return { ...pause, reason, since: now, retryAt, isProbing: false, failedProbes: 0n, unclearInARow: 0n };
}

/** Another reason than before starts its own waits from the beginning. */
function prolonged(pause: OpenPause, outcome: Exclude<SendOutcome, 'answered'>, now: Date): Pause {
  const reason = outcome === 'unclear' ? pause.reason : outcome;
  const failedProbes = reason === pause.reason ? pause.failedProbes + 1n : 0n;
  const { firstMs, mostMs } = waits[reason];
  // Past ten doublings every wait is at its most.
  const waitMs = Math.min(mostMs, firstMs * 2 ** Math.min(Number(failedProbes), 10));
  return { ...pause, reason, retryAt: addMs(now, waitMs), isProbing: false, failedProbes };
}

function cleared(pause: Pause): Pause {
  const nothing = { reason: null, since: null, retryAt: null, isProbing: false };
  return { ...pause, ...nothing, failedProbes: 0n, unclearInARow: 0n };
}
