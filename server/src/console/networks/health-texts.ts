import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { UnavailableReason } from '../../networks/contract.ts';
import { rateText, timeInSentence, stateMark } from '../../portal/patterns/texts.ts';
import type { AttemptRate, NetworkHealth, WaitingPayouts } from '../../reports/network-health.ts';

/** Why a network takes no payouts, in words. */
export const reasonTexts: Record<UnavailableReason, string> = {
  float_empty: 'float empty',
  network_unavailable: 'it does not answer',
};

/** `93% (412 of 443)`, and of which time. */
export function attemptText({ paidCount, endedCount, hours }: AttemptRate): string {
  const rate = rateText({ part: BigInt(paidCount), of: BigInt(endedCount) });
  return `${rate} in the last ${hours === 1 ? 'hour' : '24 hours'}`;
}

/** The breaker of all the network's payouts; undefined while it is closed. */
export function ownBreaker({ breakers }: NetworkHealth): NetworkHealth['breakers'][number] | undefined {
  return breakers.find(({ merchantId }) => merchantId === null);
}

export function payoutState(health: NetworkHealth): Html {
  if (!health.paysOut) return stateMark({ tone: 'calm', icon: 'cross', text: 'Pays out nothing' });
  if (ownBreaker(health)) return stateMark({ tone: 'bad', icon: 'warning', text: 'Paused' });
  const pausedCount = new Set(health.breakers.map(({ merchantId }) => merchantId)).size;
  if (pausedCount > 0) {
    const businesses = pausedCount === 1 ? '1 business' : `${pausedCount} businesses`;
    return stateMark({ tone: 'wait', icon: 'clock', text: `Paused for ${businesses}` });
  }
  return stateMark({ tone: 'good', icon: 'check', text: 'Pays out' });
}

/** What waits together; null where nothing does. */
export function sumWaiting(
  waiting: readonly WaitingPayouts[],
): Omit<WaitingPayouts, 'network' | 'merchantId' | 'railAccount'> | null {
  const [first, ...rest] = waiting;
  if (!first) return null;
  return rest.reduce(
    (sum, each) => ({
      count: sum.count + each.count,
      heldMinor: sum.heldMinor + each.heldMinor,
      oldestAt: each.oldestAt < sum.oldestAt ? each.oldestAt : sum.oldestAt,
      nextTryAt: each.nextTryAt < sum.nextTryAt ? each.nextTryAt : sum.nextTryAt,
    }),
    { count: first.count, heldMinor: first.heldMinor, oldestAt: first.oldestAt, nextTryAt: first.nextTryAt },
  );
}

/** `14 wait, D22,400.00; next try today 07:40`. */
export function waitingText(waiting: readonly WaitingPayouts[], now: Date): Html {
  const sum = sumWaiting(waiting);
  if (!sum) return html`Nothing waits`;
  const next = sum.nextTryAt <= now ? html`now` : timeInSentence(sum.nextTryAt, now);
  return html`${sum.count.toLocaleString('en-GB')} ${sum.count === 1n ? 'waits' : 'wait'}, ${formatAmount(sum.heldMinor)}; next try ${next}`;
}

/** The page of a network's health through one account, below the base of its environment. */
export function healthPath({ capabilities: { network, railAccount } }: NetworkHealth): string {
  return `/networks/${network}?account=${railAccount}`;
}

/** The operator's accounts, and of businesses' own those that need somebody: there may be very many. */
export function shownOf(networks: readonly NetworkHealth[]): readonly NetworkHealth[] {
  return networks.filter(
    ({ capabilities, breakers, waiting }) =>
      capabilities.merchantId === null || breakers.length > 0 || waiting.length > 0,
  );
}
