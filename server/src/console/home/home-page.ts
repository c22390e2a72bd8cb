import { findHeldRestore } from '../../backups/hold.ts';
import { backupProblems, readBackupState } from '../../backups/runs.ts';
import { listOwed } from '../../debts/what-is-owed.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { listVerifications } from '../../ledger/verifications.ts';
import { icon } from '../../pages/icons.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { readPhoneStatuses } from '../../receipts/phones.ts';
import { listNewestDays } from '../../reconciliation/reconcile.ts';
import { readClearing } from '../../reports/clearing.ts';
import { readNetworkHealth } from '../../reports/network-health.ts';
import { readUnfinished } from '../../reports/unfinished.ts';
import { ageText } from '../age.ts';
import { merchantsOf } from '../businesses/business.ts';
import { casesMax, casesOf } from '../cases/case-list.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { networkTable, noNetworks } from '../networks/network-table.ts';
import { queuesOf } from '../queues/queue-names.ts';
import type { ConsoleVisit } from '../visit.ts';
import type { WatchedMoney } from './money-troubles.ts';
import type { Trouble } from './trouble.ts';
import { troublesOf, type Watched } from './troubles.ts';

// More than a person handles at once; the lists have all.
const troublesShown = 10;

/** Is money stuck? Where? Who acts? */
export const homePage: ConsoleRoute = {
  path: '/home',
  action: 'records.read',
  async handle(visit) {
    const { environment, base, now, money } = visit;
    const [verified] = await listVerifications(money.db, 1);
    const watched: Watched = {
      ...{ now, base, verified },
      restore: await findHeldRestore(money.db),
      backups: backupProblems(await readBackupState(money.db, now), { now, isExpected: visit.expectsBackups }),
      networks: await readNetworkHealth(money, environment === 'test'),
      queues: await queuesOf(visit),
      cases: await casesOf(visit, 'open'),
      owed: await listOwed(money.db),
      merchants: await merchantsOf(visit),
      phones: await phonesOf(visit),
      ...(await moneyOf(visit)),
    };
    const troubles = troublesOf(watched);
    const body = html`<header class="head"><h1>${environment === 'test' ? 'Test' : 'Live'}</h1>
<p class="actions"><a class="button small plain" href="${base}/totals">Totals</a></p></header>
${troubleList(troubles)}
<section class="found"><header class="head"><h2>Networks</h2></header>${
      watched.networks.length === 0 ? noNetworks(visit) : networkTable(visit, watched.networks)
    }</section>
${summary(watched, visit)}`;
    return { title: 'Home', body };
  },
};

function accountsOf({ railAccounts, environment }: ConsoleVisit) {
  return railAccounts.connected.list().filter(({ account }) => account.testMode === (environment === 'test'));
}

function phonesOf(visit: ConsoleVisit) {
  const accounts = accountsOf(visit).map(({ account }) => account);
  return readPhoneStatuses(visit.money.db, accounts, visit.now);
}

async function moneyOf(visit: ConsoleVisit): Promise<Omit<WatchedMoney, 'now' | 'base'>> {
  const { db, clock } = visit.money;
  const isOwn = ({ testMode }: { testMode: boolean }): boolean => testMode === (visit.environment === 'test');
  return {
    accounts: accountsOf(visit),
    days: (await listNewestDays(db)).filter(isOwn),
    clearing: (await readClearing(db, visit.now)).filter(isOwn),
    unfinished: (await readUnfinished(db, clock)).filter(isOwn),
  };
}

function troubleList(troubles: readonly Trouble[]): Html {
  if (troubles.length === 0) {
    return html`<section class="panel"><p>${stateMark({ tone: 'good', icon: 'check', text: 'Nothing needs you now' })}</p></section>`;
  }
  const more = troubles.length - troublesShown;
  return html`<section class="panel"><h2>Needs a person: ${troubles.length}</h2><ul class="troubles">${troubles
    .slice(0, troublesShown)
    .map(
      ({ href, text, detail }) =>
        html`<li>${icon('warning')}<div><a href="${href}">${text}</a><p class="hint">${detail}</p></div></li>`,
    )}</ul>${more > 0 && html`<p class="hint">And ${more} more: those above hold the most money for the longest.</p>`}</section>`;
}

/** The rest of the service in three figures, each with its list. */
function summary({ cases, queues, verified, now }: Watched, { base }: ConsoleVisit): Html {
  const oldest = cases[0]?.found.createdAt;
  const money = cases.reduce((sum, { found }) => sum + found.amountMinor, 0n);
  const late = queues.find(({ oldestDueAt }) => oldestDueAt !== null)?.oldestDueAt;
  return html`<div class="columns three"><section class="panel"><h2><a href="${base}/cases">Cases</a></h2>
<p>${oldest ? `${cases.length === casesMax ? 'At least ' : ''}${cases.length} open, ${formatAmount(money)}, oldest ${ageText(oldest, now)}` : 'None open'}</p></section>
<section class="panel"><h2><a href="${base}/queues">Queues</a></h2><p>${late ? `Longest delay ${ageText(late, now)}` : 'No delay'}</p></section>
<section class="panel"><h2><a href="${base}/ledger">Ledger</a></h2><p>${
    verified
      ? html`${verified.isCorrect ? 'Right' : html`<strong>Wrong</strong>`} ${shownTime(verified.verifiedAt, now)}`
      : 'Not verified yet'
  }</p></section></div>`;
}
