import { listAuditEntries, type AuditFilter } from '../../audit/record-audit.ts';
import type { AuditEntry } from '../../audit/audit-entry.ts';
import { listTeam } from '../../accounts/team.ts';
import { utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { audit } from '../patterns/act.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { formRoutes } from '../patterns/form-page.ts';
import { activeFilters, filterField, searchOf, type Filter } from '../../portal/patterns/list-page.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import { timeInSentence } from '../../portal/patterns/texts.ts';
import { createdRange, dateFilters } from '../../portal/patterns/time-filter.ts';
import type { Visit } from '../visit.ts';
import { auditCsv } from './audit-export.ts';
import { actionOptions, actionText, objectPath } from './audit-texts.ts';
import { fieldText } from '../../audit/change-words.ts';

const filters = ['term', 'person', 'action', 'object', 'from', 'to'].map((name) => ({ name }));
type Query = PageInput['query'];

function filterOf({ testMode }: Visit, query: Query): AuditFilter {
  const { term = '', action = '', person = '', object = '' } = query;
  return {
    testMode,
    ...(action !== '' && { action }),
    ...(isUuid(person) && { actorId: person }),
    ...(object !== '' && { objectId: object }),
    ...(term.trim() !== '' && { term: term.trim() }),
    ...createdRange(query),
  };
}

/** The list's filters for an address, without what is not set. */
function filterQuery(query: Query, more: [string, string][] = []): string {
  return searchOf([...activeFilters(filters, query), ...more]);
}

const show: DashboardRoute = {
  path: '/audit',
  action: 'audit.read',
  async handle(visit, { query }) {
    const { base, may, merchant } = visit;
    const page = { limit: rowsPerPage, offset: 0, before: cursorOf(query) };
    const list = await listAuditEntries(visit.money.lists, merchant.businessId, page, filterOf(visit, query));
    const { rows, nextCursor } = list;
    const exportHref = `${base}/audit/export${filterQuery(query)}`;
    const isFiltered = filterQuery(query) !== '';
    return {
      title: 'Audit log',
      body: html`<header class="head"><div><h1>Audit log</h1><p>What people did here. Nobody can change it.</p></div>
${may('audit.export').isAllowed && rows.length > 0 && html`<p class="actions"><a class="button small plain" href="${exportHref}">Export</a></p>`}</header>
${await filterForm(visit, query)}
${
  rows.length === 0
    ? html`<section class="empty"><p>${isFiltered ? 'No entries match.' : 'Nobody has changed anything here yet.'}</p>
${isFiltered && html`<p><a href="${base}/audit">Clear the filters</a></p>`}</section>`
    : html`<ol class="entries">${rows.map((entry) => entryItem(visit, entry))}</ol>`
}
<nav class="pages" aria-label="Pages">${query['cursor'] && html`<a class="button small plain" href="${base}/audit${filterQuery(query)}">Newest</a>`}
${nextCursor !== null && html`<a class="button small plain" rel="next" href="${base}/audit${filterQuery(query, [['cursor', nextCursor]])}">Older</a>`}</nav>`,
    };
  },
};

function cursorOf({ cursor }: Query): string | null {
  return cursor !== undefined && isUuid(cursor) ? cursor : null;
}

async function filterForm({ api, accounts, base, merchant }: Visit, query: Query): Promise<Html> {
  const team = await listTeam(accounts.db, merchant.businessId);
  const people = team.map(({ accountId, name }) => ({ value: accountId, text: cleanText(name) }));
  const fields: Filter[] = [
    { kind: 'search', name: 'term', label: 'Name, record or value' },
    { kind: 'select', name: 'person', label: 'Person', options: people },
    { kind: 'select', name: 'action', label: 'Action', options: actionOptions(api) },
    ...dateFilters,
  ];
  return html`<form method="get" action="${base}/audit" class="filters audit" role="search">
${fields.map((field) => filterField(field, query))}
${query['object'] && html`<input type="hidden" name="object" value="${query['object']}">`}
<button class="button small plain">Show</button></form>
${query['object'] && html`<p class="count">Entries of one record. <a href="${base}/audit">Show all</a></p>`}`;
}

/** One entry: who did what to which record when; what it changed and from where unfolds without scripts. */
function entryItem({ api, base, now }: Visit, entry: AuditEntry): Html {
  const { changes, address, sessionId, requestId } = entry;
  const path = objectPath(entry);
  const record = entry.objectType?.replaceAll(/[-_]/g, ' ');
  return html`<li class="panel" id="entry-${entry.id}"><p><strong>${actionText(api, entry.action)}</strong>
${record !== undefined && (path === null ? record : html`<a href="${base}${path}">${record}</a>`)}</p>
<p class="hint">${foreignText(entry.actorName)}${entry.actorType === 'operator' && ' (operator)'}${entry.result === 'refused' && ', refused'}, ${timeInSentence(entry.createdAt, now)}${
    entry.testMode === null && ', test and live'
  }</p>
<details><summary>What changed</summary>${changes.length > 0 && changeTable(entry)}
<p class="hint">From ${address ?? 'an unknown address'}. Session ${sessionId ?? 'none'}, request ${requestId ?? 'none'}.</p></details></li>`;
}

function changeTable({ changes }: AuditEntry): Html {
  const value = (text: string | null) => (text === null ? '' : foreignText(text));
  return html`<table class="list changes"><caption class="unseen">What changed</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${changes.map(
    ({ field, before, after }) =>
      html`<tr><td>${fieldText(field)}</td><td>${value(before)}</td><td>${value(after)}</td></tr>`,
  )}</tbody></table>`;
}

const exported = formRoutes<{ total: number; filter: AuditFilter }>({
  path: '/audit/export',
  action: 'audit.export',
  async load(visit, { query }) {
    const filter = filterOf(visit, query);
    const page = { limit: 1, offset: 0, before: null };
    const { total } = await listAuditEntries(visit.money.lists, visit.merchant.businessId, page, filter);
    return { total, filter };
  },
  view: (_subject, _visit, { query }) => ({
    heading: 'Export the audit log',
    effect: html`<p>${filterQuery(query) === '' ? 'All entries' : 'The entries that your filters show'}, as a table for a spreadsheet (CSV).
The log notes that you exported it.</p>`,
    button: 'Export',
    back: { href: `/audit${filterQuery(query)}`, text: 'Back to the log' },
  }),
  async submit(visit, { subject: { filter } }) {
    const { db, clock } = visit.accounts;
    const changes = Object.entries(filter).map(([field, value]) => ({ field, before: null, after: textOf(value) }));
    await db.withTransaction(async (tx) => {
      audit(tx, visit, { action: 'audit.export', object: { type: 'audit', id: null }, changes });
    });
    const name = exportName(visit, 'audit', [utcDay(clock.now())]);
    return { download: { name, contentType: 'text/csv; charset=utf-8', bytes: auditCsv(visit, filter) } };
  },
});

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}

export const auditPages: readonly DashboardRoute[] = [show, ...exported];
