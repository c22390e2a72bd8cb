import type { Topic } from '../../kit/changes.ts';
import type { CsvCell } from '../../kit/csv.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { searchedRowsMax } from '../../api/pagination.ts';
import type { Option } from './fields.ts';
import { isShortFirstPage, pageLinks, pageOf } from './page-of-list.ts';
import type { AnyAction, PageInput, PageRoute, PortalKind, PortalVisit } from './page-route.ts';

/** A filter of a list; its value stays in the address. */
export type Filter = {
  /** Folded away until it is used, so that a phone shows the list first. */
  isMore?: boolean;
} & (
  | { kind: 'search'; name: string; label: string }
  /** `unset` is what no choice means: “All”, unless it says otherwise. */
  | { kind: 'select'; name: string; label: string; options: readonly Option[]; unset?: string }
  | { kind: 'date' | 'text'; name: string; label: string }
  /** In the address only, as other pages link to it; shown as a line that says what it narrows the list to. */
  | { kind: 'given'; name: string; label: string }
);

/** A column of a list. On a phone only those with `isMain` remain: give them what the others say in a second line. */
export interface Column<Row, Kind extends PortalKind> {
  header: string;
  cell(row: Row, visit: Kind['visit']): Html | string;
  isMain?: boolean;
  /** Right-aligned: amounts and counts. */
  isNumber?: boolean;
}

export interface ListResult<Row> {
  rows: readonly Row[];
  total: number;
  /** True where there are more than `total`. */
  isCapped?: boolean;
  nextCursor: string | null;
  /** Whether newer rows come before the page; left out by lists that are not read by the ids of their rows. */
  hasNewer?: boolean;
  /** True where a text was not searched in older rows. */
  isNewestOnly?: boolean;
  /** Bututs of all rows, not only of this page's. */
  sumMinor?: bigint;
  /** Below the count: what else all rows add up to. */
  summary?: Html;
  /** Stands above the list, also while it is empty. */
  above?: Html;
}

type Noun = readonly [one: string, many: string, summed?: string];

export interface ListPage<Row extends { id: string }, Kind extends PortalKind> {
  path: string;
  action: Kind['action'];
  title: string;
  /** `payment`, `payments`, and what the sum is of: `paid`. */
  noun: Noun;
  /** A function where the choices are the business's own, such as its counters. */
  filters: readonly Filter[] | ((visit: Kind['visit']) => Promise<readonly Filter[]>);
  columns: readonly Column<Row, Kind>[];
  read(visit: Kind['visit'], query: PageInput['query']): Promise<ListResult<Row>>;
  /** Below the visit's base. */
  href(row: Row): string;
  /** The first step: stands in the list while it is empty, else above it. Not for whoever may do it at their own counters only. */
  first?: ListAction<Kind>;
  /** Why it is empty, and where to go if not to the first step. */
  empty: { text: string; action?: ListAction<Kind> };
  /** For a list that stays up to date while it is open. */
  live?: LiveList<Row, Kind>;
  /** What its file has; with it the list gets a button and `exportRoutes`. */
  exported?: ListExport<Row, Kind>;
  /** Buttons above the list, after the first step. */
  buttons?: readonly ListAction<Kind>[];
}

/** With what a role must be allowed. */
interface ListAction<Kind extends PortalKind> {
  href: string;
  text: string;
  needs: Kind['action'];
}

/** How a list that is open learns of changes (`live/stream-route.ts`). */
export interface LiveList<Row, Kind extends PortalKind> {
  topic(visit: Kind['visit']): Topic;
  changedAt(row: Row): Date;
  amountMinor(row: Row): bigint;
}

/** A list as a file. What it leaves out is read page by page through `read`: enough for lists of thousands. */
export interface ListExport<Row, Kind extends PortalKind> {
  /** Who may take the list away as a file. */
  needs: Kind['action'];
  columns: readonly { header: string; cell(row: Row, visit: Kind['visit']): CsvCell }[];
  /** Up to `limit` rows after the row with the id `before`, newest first, without counting. */
  rows?(visit: Kind['visit'], query: PageInput['query'], page: ExportPage): Promise<readonly Row[]>;
  /** The whole list. */
  totals?(visit: Kind['visit'], query: PageInput['query']): Promise<ExportTotals>;
}

export interface ExportPage {
  limit: number;
  before: string | null;
}

export type ExportTotals = Pick<ListResult<never>, 'total' | 'isCapped' | 'sumMinor'>;

/** The page of a list: filters kept in the address, newest first, a row's name leading to its page. */
export function listRoute<Row extends { id: string }, Kind extends PortalKind>(
  page: ListPage<Row, Kind>,
): PageRoute<Kind> {
  const { path, action, title } = page;
  return {
    path,
    action,
    async handle(visit, { query: sent }) {
      const { list, query } = await readPage(page, visit, sent);
      const shown = await shownList(page, visit);
      const isFiltered = activeFilters(shown.filters, query).length > 0;
      const isEmpty = list.rows.length === 0 && !isFiltered;
      return {
        title,
        body: html`<header class="head"><h1>${title}</h1>${buttonsOf(shown, visit, { list, query, isEmpty })}</header>
${(isFiltered || list.rows.length > 0 || query['cursor']) && filterForm(shown, visit, query)}
<div id="list">${isFiltered && html`<p class="paper">${filterText(shown.filters, query)}</p>`}${list.above}${page.live ? liveLine(shown, visit, { list, query }) : countLine(list, page.noun)}${list.rows.length > 0 && list.summary}${
          list.rows.length === 0 ? emptyState(shown, visit, isFiltered) : table(shown, visit, { list, query })
        }${list.isNewestOnly && newestOnlyLine(shown)}</div>`,
      };
    },
  };
}

/** A page of a list, and the address that it was read by. */
interface ReadPage<Row> {
  list: ListResult<Row>;
  query: PageInput['query'];
}

async function readPage<Row extends { id: string }, Kind extends PortalKind>(
  page: ListPage<Row, Kind>,
  visit: Kind['visit'],
  query: PageInput['query'],
): Promise<ReadPage<Row>> {
  const list = await page.read(visit, query);
  if (!isShortFirstPage(list, pageOf(query))) return { list, query };
  const { cursor: _cursor, ...first } = query;
  return { list: await page.read(visit, first), query: first };
}

/** A list with the filters of this visit. */
export type ShownList<Row extends { id: string }, Kind extends PortalKind> = Omit<ListPage<Row, Kind>, 'filters'> & {
  filters: readonly Filter[];
};

export async function shownList<Row extends { id: string }, Kind extends PortalKind>(
  page: ListPage<Row, Kind>,
  visit: Kind['visit'],
): Promise<ShownList<Row, Kind>> {
  const { filters } = page;
  return { ...page, filters: typeof filters === 'function' ? await filters(visit) : filters };
}

/** A list, whatever its rows are. */
type AnyList = Omit<ShownList<never, PortalKind>, 'columns' | 'read' | 'href' | 'live' | 'exported'> & {
  exported?: { needs: AnyAction };
};

/** Replaces the list alone: what is typed in the filters stays. */
const replacesList = html`hx-boost="true" hx-target="#list" hx-select="#list" hx-swap="outerHTML show:top"`;

/** What waits to be shown, and whether the list is up to date; its height is reserved. */
function liveLine<Row>(
  { path, filters, noun }: AnyList,
  { base, now }: PortalVisit,
  { list, query }: ReadPage<Row>,
): Html {
  const active = activeFilters(filters, query);
  const parameters = new URLSearchParams([...active, ['list', path.slice(1)], ['since', now.toISOString()]]);
  if (query['cursor']) parameters.set('cursor', query['cursor']);
  const newest = `${base}${path}${searchOf(active)}`;
  return html`<div class="live-line" hx-sse:connect="${base}/stream?${parameters.toString()}" hx-swap="none">
${countLine(list, noun)}<a id="arrived" href="${newest}" ${replacesList} hidden></a>
<span id="live" class="live" hidden></span><noscript><a href="${newest}">Check again</a></noscript></div>`;
}

function countLine<Row>(list: ListResult<Row>, noun: Noun): Html {
  return html`${list.rows.length > 0 && html`<p class="count" id="count">${countText(list, noun)}</p>`}`;
}

/** What a search left out, and how to search that. */
function newestOnlyLine({ noun, filters }: AnyList): Html {
  const hasDates = filters.some(({ name }) => name === 'from');
  return html`<p class="hint" id="newest-only">Searched in the newest ${searchedRowsMax.toLocaleString('en-GB')} ${noun[1]}. ${
    hasDates && 'Choose dates to search older ones.'
  }</p>`;
}

/** The filters that are set, as they stand in an address. */
export function activeFilters(filters: readonly Pick<Filter, 'name'>[], query: PageInput['query']): [string, string][] {
  return filters.flatMap(({ name }) => (query[name] ? [[name, query[name]] as [string, string]] : []));
}

/** The query of an address with its question mark; empty without parameters. */
export function searchOf(parameters: [string, string][]): string {
  return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`;
}

/** What a list is narrowed to, in words. */
export function filterText(filters: readonly Filter[], query: PageInput['query']): string {
  const active = filters.flatMap((filter) => {
    const value = query[filter.name] ?? '';
    if (value === '') return [];
    const shown =
      filter.kind === 'select' ? (filter.options.find((each) => each.value === value)?.text ?? value) : value;
    return [`${filter.label}: ${shown}`];
  });
  return active.length === 0 ? 'Without filters.' : `${active.join(', ')}.`;
}

function buttonsOf<Row>(
  { first, buttons = [], empty, exported, path, filters }: AnyList,
  { base, may }: PortalVisit,
  { list: { rows }, query, isEmpty }: ReadPage<Row> & { isEmpty: boolean },
): Html {
  const step = first ?? empty.action;
  const inList = isEmpty && mayDo(step, may) ? step?.href : undefined;
  return html`<p class="actions">${[...(first && mayDo(first, may) ? [first] : []), ...buttons]
    .filter(({ href, needs }) => href !== inList && may(needs).isAllowed)
    .map(
      ({ href, text }, index) =>
        html`<a class="button small ${index > 0 && 'plain'}" href="${base}${href}">${text}</a>`,
    )}
${
  exported &&
  rows.length > 0 &&
  may(exported.needs).isAllowed &&
  html`<a class="button small plain" href="${base}${path}/export${searchOf(activeFilters(filters, query))}">Export</a>`
}</p>`;
}

function filterForm({ filters, path }: AnyList, { base }: PortalVisit, query: PageInput['query']): Html {
  if (filters.length === 0) return html``;
  const more = filters.filter(({ isMore, kind }) => isMore === true && kind !== 'given');
  const isUsed = more.some(({ name }) => (query[name] ?? '') !== '');
  return html`<form method="get" action="${base}${path}" class="filters" role="search" ${replacesList}>
${filters.filter(({ isMore }) => isMore !== true).map((filter) => filterField(filter, query))}
<button class="button small plain">Show</button>
${
  more.length > 0 &&
  html`<details class="more" ${isUsed && 'open'}><summary>More filters</summary>
<div class="fields">${more.map((filter) => filterField(filter, query))}</div></details>`
}
</form>`;
}

/** The field of a filter, with what it is set to. */
export function filterField(filter: Filter, query: PageInput['query']): Html {
  const { name, label, kind } = filter;
  const value = query[name] ?? '';
  const id = `filter-${name}`;
  if (kind === 'given') {
    if (value === '') return html``;
    return html`<label class="tick given"><input type="checkbox" name="${name}" value="${value}" checked><span>${label}</span></label>`;
  }
  const control =
    kind === 'select'
      ? html`<select id="${id}" name="${name}"><option value="">${filter.unset ?? 'All'}</option>${filter.options.map(
          (option) =>
            html`<option value="${option.value}" ${option.value === value && 'selected'}>${option.text}</option>`,
        )}</select>`
      : html`<input id="${id}" name="${name}" type="${kind}" value="${value}">`;
  return html`<div class="field ${kind}"><label for="${id}">${label}</label>${control}</div>`;
}

function emptyState({ first, empty, path, noun }: AnyList, { base, may }: PortalVisit, isFiltered: boolean): Html {
  if (isFiltered) {
    return html`<section class="empty"><p>No ${noun[1]} match.</p><p><a href="${base}${path}">Clear the filters</a></p></section>`;
  }
  const { text, action = first } = empty;
  return html`<section class="empty"><p>${text}</p>${
    action && mayDo(action, may) && html`<p><a class="button small" href="${base}${action.href}">${action.text}</a></p>`
  }</section>`;
}

function mayDo(action: { needs: AnyAction } | undefined, may: PortalVisit['may']): boolean {
  return action !== undefined && may(action.needs).isAllowed && !may(action.needs).ownOnly;
}

function table<Row extends { id: string }, Kind extends PortalKind>(
  page: ShownList<Row, Kind>,
  visit: Kind['visit'],
  { list, query }: ReadPage<Row>,
): Html {
  const { rows } = list;
  const { columns, path, filters, title } = page;
  const pageHref = (more: [string, string][]): string =>
    `${visit.base}${path}${searchOf([...activeFilters(filters, query), ...more])}`;
  return html`<table class="list"><caption class="unseen">${title}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.header}</th>`)}</tr></thead>
<tbody ${!query['cursor'] && 'data-newest'}>${rows.map((row) => listRow(page, visit, row))}</tbody></table>
${pageLinks(list, pageHref, { isFirst: !query['cursor'], swap: replacesList })}`;
}

function classOf({ isMain, isNumber }: { isMain?: boolean; isNumber?: boolean }): string {
  return [isMain ? '' : 'wide', isNumber ? 'number' : ''].filter(Boolean).join(' ');
}

/** A row, which also comes alone while the list is open. */
export function listRow<Row extends { id: string }, Kind extends PortalKind>(
  { columns, href }: ListPage<Row, Kind>,
  visit: Kind['visit'],
  row: Row,
): Html {
  return html`<tr id="row-${row.id}">${columns.map((column, index) => {
    const cell = column.cell(row, visit);
    return html`<td class="${classOf(column)}">${index === 0 ? html`<a href="${visit.base}${href(row)}">${cell}</a>` : cell}</td>`;
  })}</tr>`;
}

/** `443 payments, D61,204.50 paid`. */
export function countText({ total, isCapped = false, sumMinor }: ExportTotals, noun: Noun): string {
  const count = `${isCapped ? 'More than ' : ''}${total.toLocaleString('en-GB')} ${total === 1 ? noun[0] : noun[1]}`;
  return sumMinor === undefined ? count : [`${count}, ${formatAmount(sumMinor)}`, noun[2]].join(' ').trim();
}
