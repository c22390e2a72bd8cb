import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { findCaseById } from '../../cases/list-cases.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { PageResult } from '../../portal/patterns/page-route.ts';
import { findRecords } from '../../reports/find-records.ts';
import { listBusinesses, type Business } from '../businesses/business.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { loadRecord, recordRow, type LoadedRecord } from '../records/load-record.ts';
import type { ConsoleVisit } from '../visit.ts';

const businessesMax = 10;
const recordsMax = 25;
const termLengthMax = 200;

/** One field for everything: an id or reference opens its page; a name or number lists what has it. */
export const searchPage: ConsoleRoute = {
  path: '/search',
  action: 'records.read',
  async handle(visit, { query }): Promise<PageResult> {
    const { environment, base } = visit;
    const term = cleanText(query['q'] ?? '').slice(0, termLengthMax);
    if (term === '') return page(visit, term, html``);
    const businesses = await findBusinesses(visit, term);
    const testMode = environment === 'test';
    const found = await findRecords(visit.money, { testMode, term, rowsMax: recordsMax });
    const [record, ...others] = found;
    const [business, ...otherBusinesses] = businesses;
    if (record && others.length === 0 && !business) return { redirect: `/records/${record.id}` };
    if (business && otherBusinesses.length === 0 && !record && isIdOf(business, term)) {
      return { redirectTo: `/operator/businesses/${business.id}` };
    }
    const openedCase = isUuid(term) ? await findCaseById(visit.money.db, term) : undefined;
    if (openedCase && !record) return { redirect: `/cases/${openedCase.id}` };
    const records: LoadedRecord[] = [];
    for (const each of found) records.push(await loadRecord(visit, each));
    if (businesses.length + records.length === 0) return page(visit, term, nothing(visit, term));
    const body = html`${businesses.length > 0 && businessTable(businesses)}${records.length > 0 && recordTable(visit, records)}`;
    return page({ ...visit, base }, term, body);
  },
};

async function findBusinesses(visit: ConsoleVisit, term: string): Promise<Business[]> {
  const text = term.toLowerCase();
  const all = await listBusinesses(visit);
  return all
    .filter((business) => isIdOf(business, term) || business.name.toLowerCase().includes(text))
    .slice(0, businessesMax);
}

function isIdOf({ id, test, live }: Business, term: string): boolean {
  return [id, test.id, live.id, test.shortId, live.shortId].some((each) => each.toLowerCase() === term.toLowerCase());
}

function page({ base }: ConsoleVisit, term: string, body: Html): PageResult {
  return {
    title: 'Search',
    body: html`<h1>Search</h1>
<form method="get" action="${base}/search" role="search" class="search-form"><div class="field">
<label for="q">Business, id, reference, or number</label>
<input id="q" name="q" type="search" value="${term}" autocomplete="off" aria-describedby="q-hint" ${term === '' && 'autofocus'}>
<p class="hint" id="q-hint">A business by its name or an id; a payment, transfer or refund by its id, our reference, the network’s transaction, or a phone number in any form.</p></div>
<button class="button small">Search</button></form>
${body}`,
  };
}

function nothing({ environment }: ConsoleVisit, term: string): Html {
  const other = environment === 'test' ? 'live' : 'test';
  return html`<section class="empty"><p>Nothing found for <strong><bdi>${term}</bdi></strong> in ${environment}.</p>
<p>Try a part of the business’s name, or all digits of the number.</p>
<p><a href="/operator/${other}/search?q=${encodeURIComponent(term)}">Search in ${other}</a></p></section>`;
}

function businessTable(businesses: readonly Business[]): Html {
  return html`<section class="found"><h2>Businesses</h2><table class="list"><caption class="unseen">Businesses</caption>
<thead class="unseen"><tr><th scope="col">Name</th><th scope="col">Short ids</th></tr></thead>
<tbody>${businesses.map(
    ({
      id,
      name,
      test,
      live,
    }) => html`<tr><td><a href="/operator/businesses/${id}"><span class="first">${foreignText(name)}</span></a></td>
<td class="number">${test.shortId}, ${live.shortId}</td></tr>`,
  )}</tbody></table></section>`;
}

function recordTable(visit: ConsoleVisit, records: readonly LoadedRecord[]): Html {
  return html`<section class="found"><h2>Records</h2><table class="list"><caption class="unseen">Records</caption>
<thead><tr><th scope="col">What</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">Business</th>
<th scope="col" class="wide">State</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${records.map((record) => recordRow(visit, record))}</tbody></table>
${records.length === recordsMax && html`<p class="hint">The newest ${recordsMax}. A business’s own lists have all of them.</p>`}</section>`;
}
