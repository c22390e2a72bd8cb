import { AppError } from '../../api/app-error.ts';
import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { dayText, rateText, shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { readNetworkHealth, type NetworkHealth } from '../../reports/network-health.ts';
import { readTotals } from '../../reports/read-totals.ts';
import { ageText } from '../age.ts';
import { merchantsOf } from '../businesses/business.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { attemptText, ownBreaker, shownOf, payoutState, reasonTexts, sumWaiting, waitingText } from './health-texts.ts';
import { networkTable, noNetworks } from './network-table.ts';

const list: ConsoleRoute = {
  path: '/networks',
  action: 'records.read',
  async handle(visit) {
    const networks = await readNetworkHealth(visit.money, visit.environment === 'test');
    const shown = shownOf(networks);
    const hiddenCount = networks.length - shown.length;
    const body = html`<header class="head"><h1>Networks</h1></header>
${networks.length === 0 ? noNetworks(visit) : shown.length > 0 && networkTable(visit, shown)}
${hiddenCount > 0 && html`<p class="hint">Accounts of businesses with nothing wrong are left out: ${hiddenCount.toLocaleString('en-GB')}.</p>`}
<p><a href="/operator/rail-accounts">Rail accounts</a>: what is connected, and its credentials</p>`;
    return { title: 'Networks', body };
  },
};

const show: ConsoleRoute = {
  path: '/networks/:network',
  action: 'records.read',
  async handle(visit, { params, query }) {
    const networks = await readNetworkHealth(visit.money, visit.environment === 'test');
    const ofNetwork = networks.filter(({ capabilities }) => capabilities.network === params['network']);
    const { account } = query;
    const health = ofNetwork.find(({ capabilities }) => account === undefined || capabilities.railAccount === account);
    if (!health) throw new AppError('not_found', 'There is no such network in this environment.');
    const merchants = await merchantsOf(visit);
    const { displayName } = health.capabilities;
    const body = html`${recordHead(visit, { heading: displayName, state: null, actions: [] })}
<div class="columns">${collecting(health)}${payingOut(health, visit)}</div>
${pausedBusinesses(health, visit, merchants)}
${waitingBusinesses(health, visit, merchants)}
${await lastDays(visit, health, merchants)}
<p><a href="${visit.base}/networks/${health.capabilities.network}/message">Read a message of it to a shop</a></p>`;
    return { title: displayName, body };
  },
};

export const networkPages: readonly ConsoleRoute[] = [list, show];

function collecting({ attempts, capabilities }: NetworkHealth): Html {
  return html`<section class="panel"><h2>Collects</h2>${facts([
    ['Paid, of tries that ended', attemptText(attempts)],
    ['Answers within', `${capabilities.callTimeoutMs / 1_000} s, else it is looked up`],
  ])}</section>`;
}

function payingOut(health: NetworkHealth, { now }: ConsoleVisit): Html {
  const breaker = ownBreaker(health);
  return html`<section class="panel"><h2>Pays out</h2>${facts([
    ['State', payoutState(health)],
    ['Why', breaker && reasonTexts[breaker.reason]],
    ['Since', breaker && html`${shownTime(breaker.openedAt, now)} (${ageText(breaker.openedAt, now)})`],
    ['Next try', breaker && nextTry(breaker, now)],
    ['Float', formatAmount(health.floatMinor)],
    ['Rail account', accountLink(health)],
    ['Payouts that wait', waitingText(health.waiting, now)],
  ])}${
    health.floatMinor < 0n &&
    html`<p class="hint">Below zero: more was paid out from this account than was collected on it. Fill it from where the money came in.</p>`
  }${
    breaker &&
    html`<p class="hint">It resumes by itself: one payout at a time is sent as a trial, and the others follow when one gets through.${
      breaker.reason === 'float_empty' && ' Fill the float at the network.'
    }</p>`
  }</section>`;
}

/** A simulated network's account is no record. */
function accountLink({ capabilities: { railAccount, testMode } }: NetworkHealth): Html {
  return testMode ? html`${railAccount}` : html`<a href="/operator/rail-accounts/${railAccount}">${railAccount}</a>`;
}

function nextTry({ state, retryAt }: NetworkHealth['breakers'][number], now: Date): Html {
  return state === 'half_open' ? html`a trial is on its way` : shownTime(retryAt, now);
}

function businessLink(merchant: Merchant | undefined, id: string): Html {
  if (!merchant) return html`${id}`;
  return html`<a href="/operator/businesses/${merchant.businessId}"><span class="first">${foreignText(merchant.name)}</span></a>`;
}

function pausedBusinesses(
  { breakers }: NetworkHealth,
  { now }: ConsoleVisit,
  merchants: ReadonlyMap<string, Merchant>,
): Html {
  const own = breakers.flatMap((breaker) =>
    breaker.merchantId === null ? [] : [{ ...breaker, id: breaker.merchantId }],
  );
  if (own.length === 0) return html``;
  return html`<section class="found"><h2>Paused for one business</h2><table class="list"><caption class="unseen">Paused for one business</caption>
<thead><tr><th scope="col">Business</th><th scope="col">Why</th><th scope="col" class="wide">Since</th><th scope="col" class="wide">Next try</th></tr></thead>
<tbody>${own.map(
    (breaker) => html`<tr><td>${businessLink(merchants.get(breaker.id), breaker.id)}</td>
<td>${stateMark({ tone: 'wait', icon: 'clock', text: reasonTexts[breaker.reason] })}<span class="second phone">next try ${nextTry(breaker, now)}</span></td>
<td class="wide">${shownTime(breaker.openedAt, now)}</td><td class="wide">${nextTry(breaker, now)}</td></tr>`,
  )}</tbody></table></section>`;
}

function waitingBusinesses(
  { waiting }: NetworkHealth,
  { now }: ConsoleVisit,
  merchants: ReadonlyMap<string, Merchant>,
): Html {
  const sum = sumWaiting(waiting);
  if (!sum) return html``;
  return html`<section class="found"><h2>Payouts that wait</h2><table class="list"><caption class="unseen">Payouts that wait</caption>
<thead><tr><th scope="col">Business</th><th scope="col" class="number wide">Count</th><th scope="col" class="wide">Oldest</th><th scope="col" class="number">Held</th></tr></thead>
<tbody>${waiting.map(
    ({ merchantId, count, heldMinor, oldestAt }) => html`<tr><td>${businessLink(merchants.get(merchantId), merchantId)}
<span class="second phone">${count.toLocaleString('en-GB')} wait, oldest ${ageText(oldestAt, now)}</span></td><td class="number wide">${count.toLocaleString('en-GB')}</td>
<td class="wide">${shownTime(oldestAt, now)} (${ageText(oldestAt, now)})</td><td class="number">${formatAmount(heldMinor)}</td></tr>`,
  )}</tbody></table><p class="hint">The money is held: nothing is lost, nothing fails. A business can cancel what was never sent.</p></section>`;
}

const daysShown = 7;

async function lastDays(
  { money, base, now }: ConsoleVisit,
  { capabilities }: NetworkHealth,
  merchants: ReadonlyMap<string, Merchant>,
): Promise<Html> {
  const { network } = capabilities;
  const range = { from: utcDay(addMs(now, -(daysShown - 1) * dayMs)), to: utcDay(now) };
  const keys = { byDay: true, byMerchant: false, byNetwork: false };
  const rows = await readTotals(money.db, [...merchants.values()], { range, keys, network });
  if (rows.length === 0)
    return html`<section class="empty"><p>Nothing moved here in the last ${daysShown} days.</p></section>`;
  const rateOf = ({ collectedCount, unpaidCount }: (typeof rows)[number]): string =>
    rateText({ part: collectedCount, of: collectedCount + unpaidCount });
  const href = (day: string): string => `${base}/totals?rows=all&network=${network}&from=${day}&to=${day}`;
  return html`<section class="found"><h2>The last ${daysShown} days</h2><table class="list"><caption class="unseen">The last ${daysShown} days</caption>
<thead><tr><th scope="col">Day</th><th scope="col" class="wide">Payments paid</th><th scope="col" class="number">Collected</th><th scope="col" class="number wide">Paid out</th></tr></thead>
<tbody>${rows
    .toSorted((one, other) => other.day.localeCompare(one.day))
    .map(
      (row) => html`<tr><td><a class="unbroken" href="${href(row.day)}">${dayText(row.day)}</a>
<span class="second phone">${rateOf(row)} paid</span></td><td class="wide">${rateOf(row)}</td>
<td class="number">${formatAmount(row.collectedMinor)}</td><td class="number wide">${formatAmount(row.paidOutMinor)}</td></tr>`,
    )}</tbody></table></section>`;
}
