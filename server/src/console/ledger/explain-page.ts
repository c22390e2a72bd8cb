import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { isDay, lastMoment } from '../../kit/time-or-day.ts';
import type { Account } from '../../ledger/accounts.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { dayText, shownTime } from '../../portal/patterns/texts.ts';
import { explainAccount, parseAccount } from '../../settlement/balance-movements.ts';
import type { SourcedLine } from '../../settlement/line-sources.ts';
import { merchantsOf } from '../businesses/business.ts';
import type { ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';

const linesPerPage = 50;

/** Why a balance is what it is: each movement behind it, newest first, with the balance after it. */
export const explainPage: ConsoleRoute = {
  path: '/ledger/explain',
  action: 'ledger.verify',
  async handle(visit, { query }) {
    const requested = { merchant: query['merchant'] ?? '', account: query['account'] ?? '', at: query['at'] ?? '' };
    const merchants = await merchantsOf(visit);
    const merchant = findMerchant(merchants, requested.merchant.trim());
    const account = parseAccount(requested.account.trim());
    const cursor = isUuid(query['cursor'] ?? '') ? (query['cursor'] ?? null) : null;
    const body = html`<header class="head"><h1>Explain a balance</h1></header>
${balanceForm(visit, requested)}
${
  merchant && account !== undefined
    ? await explanation(visit, { merchant, account, at: isDay(requested.at) ? requested.at : null, cursor })
    : problem(visit, requested, { hasMerchant: merchant !== undefined })
}`;
    return { title: 'Explain a balance', body };
  },
};

interface Requested {
  merchant: string;
  account: string;
  at: string;
}

function findMerchant(merchants: ReadonlyMap<string, Merchant>, term: string): Merchant | undefined {
  const isIt = ({ id, shortId, businessId }: Merchant): boolean => [id, shortId, businessId].includes(term);
  return [...merchants.values()].find(isIt);
}

function balanceForm({ base }: ConsoleVisit, { merchant, account, at }: Requested): Html {
  return html`<form method="get" action="${base}/ledger/explain" class="filters">
<div class="field search"><label for="explain-merchant">Merchant id, short id, or id of the business</label><input id="explain-merchant" name="merchant" type="search" value="${merchant}"></div>
<div class="field text"><label for="explain-account">Account</label><input id="explain-account" name="account" type="text" value="${account}" list="explain-accounts" autocomplete="off"></div>
<datalist id="explain-accounts">${['payout_balance', 'available_balance', 'owed_balance', 'held', 'fees', 'suspense'].map((name) => html`<option value="${name}"></option>`)}</datalist>
<div class="field date"><label for="explain-at">At the end of</label><input id="explain-at" name="at" type="date" value="${at}"></div>
<button class="button small plain">Show</button></form>`;
}

function problem(
  { environment }: ConsoleVisit,
  { merchant, account }: Requested,
  { hasMerchant }: { hasMerchant: boolean },
): Html {
  if (merchant === '' && account === '') {
    return html`<section class="empty"><p>Which balance do you want to understand?</p>
<p class="hint">An account of the ledger, such as payable_available, float:&lt;rail&gt; or sub:&lt;id&gt;, or a balance by its name in the API: payout_balance, available_balance, owed_balance.</p></section>`;
  }
  return html`<section class="empty"><p>${
    hasMerchant ? 'There is no account of this kind.' : `There is no such merchant in ${environment}.`
  }</p></section>`;
}

async function explanation(
  visit: ConsoleVisit,
  requested: { merchant: Merchant; account: Account; at: string | null; cursor: string | null },
): Promise<Html> {
  const {
    money: { db },
  } = visit;
  const { merchant, account, at, cursor } = requested;
  const page = { account, at: at === null ? null : lastMoment(at), before: cursor, rowsMax: linesPerPage + 1 };
  const { balanceMinor, lines } = await explainAccount(db, merchant, page);
  const shown = lines.slice(0, linesPerPage);
  const last = lines.length > linesPerPage ? shown.at(-1)?.id : undefined;
  const when = at === null ? 'now' : `at the end of ${dayText(at)}`;
  const pageHref = (more: Record<string, string>): string =>
    `${visit.base}/ledger/explain?${new URLSearchParams({ merchant: merchant.id, account, ...(at !== null && { at }), ...more }).toString()}`;
  return html`<p class="count"><code>${account}</code> of ${foreignText(merchant.name)}: <strong>${formatAmount(balanceMinor)}</strong> ${when}</p>
${shown.length === 0 ? html`<section class="empty"><p>No movements. If you expected some, check the spelling of the account.</p></section>` : lineTable(visit, shown)}
<nav class="pages" aria-label="Pages">${cursor !== null && html`<a class="button small plain" href="${pageHref({})}">Newest</a>`}
${last !== undefined && html`<a class="button small plain" rel="next" href="${pageHref({ cursor: last })}">Older</a>`}</nav>`;
}

function lineTable({ base, now }: ConsoleVisit, lines: readonly SourcedLine[]): Html {
  return html`<table class="list"><caption class="unseen">Movements</caption><thead><tr><th scope="col">Flow</th>
<th scope="col" class="wide">Time</th><th scope="col" class="wide">Source</th><th scope="col" class="number">Amount</th>
<th scope="col" class="number wide">Balance after</th></tr></thead>
<tbody>${lines.map(({ at, flow, source, changeMinor, balanceMinor }) => {
    const isRecord = source.type === 'charge' || source.type === 'transfer' || source.type === 'refund';
    const name = html`<span class="first">${flow}</span>`;
    return html`<tr><td>${isRecord ? html`<a href="${base}/records/${source.paymentId ?? source.id}">${name}</a>` : name}
<span class="second phone">${shownTime(at, now)}</span></td><td class="wide">${shownTime(at, now)}</td>
<td class="wide">${source.type} ${source.reference ?? source.id}</td>
<td class="number"><span class="first">${changeMinor > 0n && '+'}${formatAmount(changeMinor)}</span><span class="second phone">then ${formatAmount(balanceMinor)}</span></td>
<td class="number wide">${formatAmount(balanceMinor)}</td></tr>`;
  })}</tbody></table>`;
}
