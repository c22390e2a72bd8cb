import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';
import type { ConnectedAccount } from '../../rail-accounts/connected-accounts.ts';
import { reconciledUntil, type ReconciledDay } from '../../reconciliation/reconciled-day.ts';
import { unexplained, type ClearingGroup } from '../../reports/clearing.ts';
import type { Unfinished } from '../../reports/unfinished.ts';
import { kindTexts } from '../cases/case-list.ts';
import { accountTexts, causeText } from '../ledger/clearing-texts.ts';
import { alarmLimits } from './alarm-limits.ts';
import type { Trouble } from './trouble.ts';

/** What the alert rules watch of live money, beside cases, debts and payouts. */
export interface WatchedMoney {
  now: Date;
  /** The head of the environment's addresses. */
  base: string;
  accounts: readonly Pick<ConnectedAccount, 'account' | 'problem'>[];
  /** The newest reconciled day of each account. */
  days: readonly ReconciledDay[];
  clearing: readonly ClearingGroup[];
  unfinished: readonly Unfinished[];
}

export function moneyTroubles(watched: WatchedMoney): Trouble[] {
  return [
    ...unfinishedTroubles(watched),
    ...clearingTroubles(watched),
    ...accountTroubles(watched),
    ...lateTroubles(watched),
    ...unprovedTroubles(watched),
  ];
}

function unfinishedTroubles({ unfinished, base, now }: WatchedMoney): Trouble[] {
  return unfinished.flatMap(({ record, count, oldestId, since }) => {
    if (now.getTime() - since.getTime() <= alarmLimits.unfinishedMs) return [];
    const records = count === 1n ? `a ${record}` : `${count} ${record}s`;
    const text = html`Nothing works on ${records} under way, since ${timeInSentence(since, now)}`;
    const detail = html`A fault of the service, which no restart mends. The oldest is shown`;
    return [{ text, detail, href: `${base}/records/${oldestId}`, heldMinor: 0n, since, urgency: 1 }];
  });
}

/** Of what a case explains, the case is the trouble. */
function clearingTroubles({ clearing, base, now }: WatchedMoney): Trouble[] {
  return clearing.flatMap(({ account, testMode, cause, amountMinor, lateMinor, oldest }) => {
    const isUnexplained = cause === unexplained && now.getTime() - oldest.getTime() > alarmLimits.unexplainedMs;
    if (testMode || cause in kindTexts || !(isUnexplained || lateMinor > 0n)) return [];
    const text = html`${formatAmount(amountMinor)} in ${accountTexts[account]}: ${causeText(cause)}`;
    const detail = html`Since ${timeInSentence(oldest, now)}`;
    return [{ text, detail, href: `${base}/ledger`, heldMinor: amountMinor, since: oldest }];
  });
}

function accountTroubles({ accounts }: WatchedMoney): Trouble[] {
  return accounts.flatMap(({ account: { name, updatedAt }, problem }) => {
    if (problem === null) return [];
    const text = html`${name} is not connected: what is paid through it is refused`;
    const href = `/operator/rail-accounts/${name}`;
    return [{ text, detail: html`${problem}`, href, heldMinor: 0n, since: updatedAt, urgency: 1 }];
  });
}

/** Businesses' own accounts are one trouble: their statements come rarely, and each would stand above newer troubles without money. */
function lateTroubles({ accounts, days, base, now }: WatchedMoney): Trouble[] {
  const untilOf = reconciledUntil(days);
  const late = accounts.flatMap(({ account }) => {
    const { name, merchantId, testMode, disabledAt } = account;
    const since = untilOf(account);
    const isLate = now.getTime() - since.getTime() > alarmLimits.reconciledMs;
    return isLate && !testMode && disabledAt === null ? [{ name, isOwn: merchantId !== null, since }] : [];
  });
  const groups = Map.groupBy(late, ({ name, isOwn }) => (isOwn ? null : name));
  return [...groups.values()].map((group) => {
    const since = new Date(Math.min(...group.map((each) => each.since.getTime())));
    const who = group.length === 1 ? `${group[0]?.name} has` : `${group.length} accounts of businesses have`;
    const text = html`${who} not been reconciled since ${timeInSentence(since, now)}`;
    const detail = html`Import the statement, then reconcile the day`;
    return { text, detail, href: `${base}/reconciliation`, heldMinor: 0n, since };
  });
}

function unprovedTroubles({ days, base }: WatchedMoney): Trouble[] {
  return days.flatMap(({ railAccount, testMode, day, unexplainedMinor, ranAt }) => {
    if (testMode || unexplainedMinor === null || unexplainedMinor === 0n) return [];
    const text = html`The float at ${railAccount} is not proved: nothing explains ${formatAmount(unexplainedMinor)}`;
    const href = `${base}/reconciliation/day?network=${railAccount}&day=${day}`;
    const heldMinor = unexplainedMinor < 0n ? -unexplainedMinor : unexplainedMinor;
    return [{ text, detail: html`Of ${day}`, href, heldMinor, since: ranAt }];
  });
}
