import type { MerchantQueue } from '../api/route.ts';
import { limitEachKey, type KeyedLimiter } from '../kit/keyed-limiter.ts';
import { Pace } from '../kit/pace.ts';
import type { Clock } from '../kit/clock.ts';

// How many connections one merchant's requests that move money may use: six keep its balance busy without a gap. With 2, 3, 4, 6
// and 20 permits one merchant made 160, 189, 143, 191 and 158 transfers a second, a difference within measurement noise, while
// another merchant's transfers took 18, 16, 16, 13 and 24 ms. Never more than half of a small pool.
const balancePermits = 6;
// A statement of 200,000 lines occupies a connection for half a second; two leave the others to payments.
const historyPermits = 2;
// About one second of transfers at that rate, and as many statements as a dashboard page shows; this bounds the memory.
const waitingMax: Record<LimitedQueue, number> = { balance: 128, history: 32 };
const queueFullMessages: Record<LimitedQueue, string> = {
  balance: 'Too many of your requests that move money wait for each other. Send this one again in a second.',
  history: 'Too many of your statements are being read. Send this request again in a second.',
};

// A burst of some thousand transfers is accepted before the first of them is late, and what was accepted is sent soon after it.
const lateAfterMs = 5_000;
// As many as wait for a shared commit: about a second's.
const pacedMax = 256;
const pacedMessage =
  'Your earlier transfers are still being sent, and too many requests wait for them. Send this one again in a second.';

type LimitedQueue = Exclude<MerchantQueue, 'payouts'>;

export type MerchantLimiters = Readonly<Record<LimitedQueue, KeyedLimiter<string>> & { payouts: Pace }>;

/** While a merchant's payouts are late because of this process, its transfers are accepted as fast as it sends them. */
export function createPayoutPace(clock: Clock, isSaturated?: () => boolean): Pace {
  return new Pace({ name: 'payouts', clock, lateAfterMs, waitingMax: pacedMax, message: pacedMessage, isSaturated });
}

/**
 * The queues of a merchant's requests that would hold connections for long, with `databaseConnections` (two at least). Requests
 * that wait here hold no database connection, so that one merchant's queue leaves the pool to the others.
 */
export function createMerchantLimiters(databaseConnections: number, payouts: Pace): MerchantLimiters {
  const half = Math.floor(databaseConnections / 2);
  return {
    balance: merchantLimiter('balance', balancePermitsOf(databaseConnections)),
    history: merchantLimiter('history', Math.min(historyPermits, half)),
    payouts,
  };
}

/** How many connections one merchant's requests that move money may use. */
export function balancePermitsOf(databaseConnections: number): number {
  return Math.min(balancePermits, Math.floor(databaseConnections / 2));
}

function merchantLimiter(queue: LimitedQueue, each: number): KeyedLimiter<string> {
  const refusal = { code: 'unavailable', message: queueFullMessages[queue] } as const;
  return limitEachKey({ name: queue, each, waitingMax: waitingMax[queue], refusal });
}
