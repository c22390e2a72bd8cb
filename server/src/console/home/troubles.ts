import { heldText, type Restore } from '../../backups/hold.ts';
import type { backupProblems } from '../../backups/runs.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { owedDescriptions, type Owed } from '../../debts/what-is-owed.ts';
import type { StoredVerification } from '../../ledger/verifications.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';
import { phoneProblems, type PhoneStatus } from '../../receipts/phones.ts';
import type { NetworkHealth } from '../../reports/network-health.ts';
import { ageText } from '../age.ts';
import { kindTexts, type CaseRow } from '../cases/case-list.ts';
import { healthPath, ownBreaker, reasonTexts, sumWaiting, waitingText } from '../networks/health-texts.ts';
import type { QueueRow } from '../queues/queue-names.ts';
import { alarmLimits } from './alarm-limits.ts';
import { moneyTroubles, type WatchedMoney } from './money-troubles.ts';
import type { Trouble } from './trouble.ts';

export interface Watched extends WatchedMoney {
  networks: readonly NetworkHealth[];
  queues: readonly QueueRow[];
  cases: readonly CaseRow[];
  owed: readonly Owed[];
  merchants: ReadonlyMap<string, Merchant>;
  verified: StoredVerification | undefined;
  /** The restore that nobody has released. */
  restore: Restore | undefined;
  backups: ReturnType<typeof backupProblems>;
  /** Of the accounts by receipts that take new payments. */
  phones: readonly PhoneStatus[];
}

/** What is past its alarm limit, by urgency, then by the money that it holds times its age. */
export function troublesOf(watched: Watched): Trouble[] {
  const { now } = watched;
  const troubles = [
    ...backupTroubles(watched),
    ...ledgerTroubles(watched),
    ...networkTroubles(watched),
    ...phoneTroubles(watched),
    ...queueTroubles(watched),
    ...caseTroubles(watched),
    ...debtTroubles(watched),
    ...moneyTroubles(watched),
  ];
  // At least one butut, so that troubles without money stand by their age.
  const weight = ({ heldMinor, since }: Trouble): number =>
    Number(heldMinor > 0n ? heldMinor : 1n) * (now.getTime() - since.getTime());
  return troubles.toSorted((one, other) => (other.urgency ?? 0) - (one.urgency ?? 0) || weight(other) - weight(one));
}

function backupTroubles({ restore, backups, base, now }: Watched): Trouble[] {
  const more = { href: `${base}/ledger`, heldMinor: 0n };
  const held = restore && {
    ...{ text: html`${heldText(restore)}`, ...more, since: restore.restoredAt, urgency: 2 as const },
    detail: html`Restored ${timeInSentence(restore.restoredAt, now)}. What to do first: docs/operations.md; then npm run operator -- restore release`,
  };
  const others = backups.map(({ text, remedy, since }) => ({
    ...{ text: html`${text}`, detail: html`${remedy}`, ...more, since },
  }));
  return [...(held ? [held] : []), ...others];
}

function ledgerTroubles({ verified, now }: Watched): Trouble[] {
  if (!verified) return [];
  const { isCorrect, verifiedAt, problem } = verified;
  const more = { href: '/operator/live/ledger', heldMinor: 0n, since: verifiedAt };
  if (!isCorrect) {
    const text = html`The ledger was wrong at its last verification, ${timeInSentence(verifiedAt, now)}`;
    return [{ text, detail: html`${problem}`, ...more, urgency: 2 as const }];
  }
  if (now.getTime() - verifiedAt.getTime() <= alarmLimits.verificationMs) return [];
  const text = html`The ledger was not verified since ${timeInSentence(verifiedAt, now)}`;
  return [{ text, detail: html`A worker does it every night; its log says why it did not`, ...more }];
}

/** Of live networks: a simulated one is paused by testers on purpose. */
function networkTroubles({ networks, base, now, merchants }: Watched): Trouble[] {
  return networks.flatMap((health) => {
    const { displayName, testMode } = health.capabilities;
    if (testMode) return [];
    const href = `${base}${healthPath(health)}`;
    const late = health.breakers.filter(
      ({ reason, openedAt }) => reason === 'float_empty' || now.getTime() - openedAt.getTime() > alarmLimits.pausedMs,
    );
    const own = ownBreaker(health);
    if (own && late.includes(own)) {
      const text = html`${displayName} pays out nothing: ${reasonTexts[own.reason]} since ${timeInSentence(own.openedAt, now)}`;
      const heldMinor = sumWaiting(health.waiting)?.heldMinor ?? 0n;
      return [{ text, detail: waitingText(health.waiting, now), href, heldMinor, since: own.openedAt }];
    }
    return late.flatMap(({ merchantId, openedAt, reason }) => {
      const waiting = health.waiting.filter((each) => each.merchantId === merchantId);
      const name = foreignText(merchants.get(merchantId ?? '')?.name ?? 'one business');
      const text = html`${displayName} pays out nothing of ${name}: ${reasonTexts[reason]} since ${timeInSentence(openedAt, now)}`;
      const heldMinor = sumWaiting(waiting)?.heldMinor ?? 0n;
      return [{ text, detail: waitingText(waiting, now), href, heldMinor, since: openedAt }];
    });
  });
}

/** A payment by receipt waits for ever for a message that no phone forwards. */
function phoneTroubles({ phones, now }: Watched): Trouble[] {
  return phones.flatMap((status) =>
    phoneProblems(status).map(({ since, reason }) => ({
      text: html`${status.railAccount}: ${reason}`,
      detail: html`Since ${timeInSentence(since, now)}`,
      ...{ href: `/operator/rail-accounts/${status.railAccount}`, heldMinor: 0n, since },
    })),
  );
}

function queueTroubles({ queues, base, now }: Watched): Trouble[] {
  return queues.flatMap(({ text, oldestDueAt, dueCount }) => {
    if (oldestDueAt === null || now.getTime() - oldestDueAt.getTime() <= alarmLimits.queueMs) return [];
    const detail = html`${dueCount.toLocaleString('en-GB')} due, oldest ${ageText(oldestDueAt, now)}`;
    const heading = html`Late: ${text}`;
    return [{ text: heading, detail, href: `${base}/queues`, heldMinor: 0n, since: oldestDueAt }];
  });
}

function caseTroubles({ cases, base, now }: Watched): Trouble[] {
  return cases.map(({ id, found, business }) => ({
    text: html`${formatAmount(found.amountMinor)}: ${kindTexts[found.kind]}`,
    detail: html`${foreignText(business)}, open ${ageText(found.createdAt, now)}${found.proposalId !== null && ', waits for a confirmation'}`,
    href: `${base}/cases/${id}`,
    heldMinor: found.amountMinor,
    since: found.createdAt,
  }));
}

function debtTroubles({ owed, base, now, merchants }: Watched): Trouble[] {
  return owed.flatMap(({ kind, merchantId, amountMinor, since }) => {
    const merchant = merchants.get(merchantId);
    const isLate = now.getTime() - since.getTime() > alarmLimits.owedMs;
    if (kind !== 'receivable_merchant' || !merchant || !isLate) return [];
    const text = html`${foreignText(merchant.name)} owes ${formatAmount(amountMinor)}`;
    const detail = html`For ${ageText(since, now)}; ${owedDescriptions[kind].endsBy}`;
    return [{ text, detail, href: `${base}/debts`, heldMinor: amountMinor, since }];
  });
}
