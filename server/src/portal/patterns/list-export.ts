import { maskedDetail } from '../../api/masked-value.ts';
import { limitMax } from '../../api/pagination.ts';
import { utcDay } from '../../kit/clock.ts';
import { csvRows } from '../../kit/csv.ts';
import { assert } from '../../kit/assert.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { exportName } from './export-name.ts';
import {
  activeFilters,
  countText,
  filterText,
  listRoute,
  searchOf,
  shownList,
  type ExportPage,
  type ExportTotals,
  type ListExport,
  type ListPage,
} from './list-page.ts';
import type { Page, PageInput, PageResult, PageRoute, PortalKind, PortalVisit } from './page-route.ts';

// A page of the file in memory at a time: 500 payments are 100 kB.
const rowsPerRead = 500;
const rowsShown = 5;
/** As many are counted before an export, which may take a second. */
export const exportedRowsMax = 1_000_000;
// Each reads as fast as its browser takes the file, with one database connection for a few milliseconds at a time.
const exportsMax = 8;

/** The exports that are being sent by this process, by account: one for each person. */
const running = new Map<string, Progress>();

interface Progress {
  rows: number;
  /** 0 where there are more than were counted. */
  total: number;
}

type Identified = { id: string };

/** A list as one request asks for it. */
interface RequestedList<Row extends Identified, Kind extends PortalKind> {
  page: ListPage<Row, Kind>;
  visit: Kind['visit'];
  query: PageInput['query'];
}

/** A list with its file. */
export function listRoutes<Row extends Identified, Kind extends PortalKind>(
  page: ListPage<Row, Kind>,
): PageRoute<Kind>[] {
  return [listRoute(page), ...exportRoutes(page)];
}

/** The page that says what a list's file will have, the file, and how far it is. */
function exportRoutes<Row extends Identified, Kind extends PortalKind>(page: ListPage<Row, Kind>): PageRoute<Kind>[] {
  const { path } = page;
  const action = exportOf(page).needs;
  return [
    {
      path: `${path}/export`,
      action,
      handle: (visit, { query }) => exportPage({ page, visit, query }),
    },
    {
      path: `${path}/export/progress`,
      action,
      async handle(visit) {
        return { title: 'Export', body: html`<p id="progress" role="status">${progressText(visit, page.noun[1])}</p>` };
      },
    },
    {
      path: `${path}/export/file`,
      action,
      async handle(visit, { query }) {
        const linesOfFile = (progress: Progress) => fileOf({ page, visit, query }, progress);
        return sendExport(visit, fileName(visit, page.noun[1], query), linesOfFile);
      },
    },
  ];
}

/** A table as a file, whose lines are made as the browser takes them: one at a time for each person. */
export function sendExport(
  { account: { id } }: PortalVisit,
  name: string,
  linesOfFile: (progress: Progress) => AsyncGenerator<string>,
): PageResult {
  if (running.has(id)) return busyPage('An export of yours is still being downloaded. Wait until it is complete.');
  if (running.size >= exportsMax) return busyPage('Many exports are running. Try again in a minute.');
  const progress: Progress = { rows: 0, total: 0 };
  running.set(id, progress);
  const bytes = endedBy(linesOfFile(progress), () => {
    if (running.get(id) === progress) running.delete(id);
  });
  return { download: { name, contentType: 'text/csv; charset=utf-8', bytes } };
}

async function exportPage<Row extends Identified, Kind extends PortalKind>(
  requested: RequestedList<Row, Kind>,
): Promise<Page> {
  const { page, visit, query } = requested;
  const { base } = visit;
  const { path, title, noun } = page;
  const { filters } = await shownList(page, visit);
  const { columns } = exportOf(page);
  const [rows, totals] = [await readRows(requested, { limit: rowsShown, before: null }), await totalsOf(requested)];
  const sample = linesOf(page, visit, rows);
  const bytes = rows.length === 0 ? 0 : Math.ceil((Buffer.byteLength(sample) / rows.length) * totals.total);
  const search = searchOf(activeFilters(filters, query));
  return {
    title: `Export: ${title}`,
    body: html`<header class="head"><h1>Export ${noun[1]}</h1></header>
<section class="panel"><p>${countText(totals, noun)}${totals.total > 0 && `, ${totals.isCapped ? 'more than' : 'about'} ${sizeText(bytes)}`}.</p>
<p class="hint">${filterText(filters, query)} A table that opens in any spreadsheet: <bdi>${fileName(visit, noun[1], query)}</bdi></p>
<p class="actions"><a class="button small" href="${base}${path}/export/file${search}" download>Download</a>
<a class="button small plain" href="${base}${path}${search}">Back to the list</a></p>
<p id="progress" role="status" data-progress="${base}${path}/export/progress"></p></section>
${rows.length > 0 && sampleTable(page, visit, rows, columns)}`,
  };
}

function sampleTable<Row extends Identified, Kind extends PortalKind>(
  { noun }: ListPage<Row, Kind>,
  visit: Kind['visit'],
  rows: readonly Row[],
  columns: ListExport<Row, Kind>['columns'],
): Html {
  // Whoever takes the file away stands in the audit log; whoever looks at this page does not.
  const shown = (header: string, cell: ReturnType<(typeof columns)[number]['cell']>): string =>
    typeof cell === 'bigint' ? formatAmount(cell, { style: 'plain' }) : maskedDetail(header, cell ?? '');
  return html`<section class="panel"><h2>The first ${noun[1]} in the file</h2><div class="sideways" tabindex="0" role="region" aria-label="The first rows">
<table class="list"><thead><tr>${columns.map(({ header }) => html`<th scope="col">${header}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map(({ header, cell }) => html`<td>${shown(header, cell(row, visit))}</td>`)}</tr>`)}</tbody></table></div></section>`;
}

/** The file, read page by page as the browser takes it. */
async function* fileOf<Row extends Identified, Kind extends PortalKind>(
  requested: RequestedList<Row, Kind>,
  progress: Progress,
): AsyncGenerator<string> {
  const { page, visit } = requested;
  const { total, isCapped = false } = await totalsOf(requested);
  progress.total = isCapped ? 0 : total;
  yield csvRows([exportOf(page).columns.map(({ header }) => header)]);
  let before: string | null = null;
  for (;;) {
    const rows: readonly Row[] = await readRows(requested, { limit: rowsPerRead, before });
    if (rows.length === 0) return;
    yield linesOf(page, visit, rows);
    progress.rows += rows.length;
    before = rows.at(-1)?.id ?? null;
  }
}

/** Calls `end` however it ends, also when the browser left before the first line: a generator alone would not notice. */
function endedBy(lines: AsyncGenerator<string>, end: () => void): AsyncIterable<string> {
  const finish = async (step: () => Promise<IteratorResult<string>>) => {
    let isDone = true;
    try {
      const result = await step();
      isDone = result.done === true;
      return result;
    } finally {
      if (isDone) end();
    }
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => finish(() => lines.next()),
      return: () => finish(() => lines.return(undefined)),
      throw: (error) => finish(() => lines.throw(error)),
    }),
  };
}

async function readRows<Row extends Identified, Kind extends PortalKind>(
  { page, visit, query }: RequestedList<Row, Kind>,
  { limit, before }: ExportPage,
): Promise<readonly Row[]> {
  const { rows } = exportOf(page);
  if (rows) return rows(visit, query, { limit, before });
  const { cursor: _cursor, ...filters } = query;
  const requested = {
    ...filters,
    limit: String(Math.min(limit, limitMax)),
    ...(before !== null && { cursor: before }),
  };
  return (await page.read(visit, requested)).rows;
}

async function totalsOf<Row extends Identified, Kind extends PortalKind>({
  page,
  visit,
  query,
}: RequestedList<Row, Kind>): Promise<ExportTotals> {
  const { cursor: _cursor, ...filters } = query;
  return exportOf(page).totals?.(visit, filters) ?? page.read(visit, filters);
}

function exportOf<Row extends Identified, Kind extends PortalKind>({
  exported,
  path,
}: ListPage<Row, Kind>): ListExport<Row, Kind> {
  assert(exported, `the list ${path} has a file`);
  return exported;
}

function linesOf<Row extends Identified, Kind extends PortalKind>(
  page: ListPage<Row, Kind>,
  visit: Kind['visit'],
  rows: readonly Row[],
): string {
  const { columns } = exportOf(page);
  return csvRows(rows.map((row) => columns.map(({ cell }) => cell(row, visit))));
}

/** An export without a beginning has its end only. */
function fileName(visit: PortalVisit, rowsName: string, query: PageInput['query']): string {
  const day = (text: string | undefined): string | null => (/^\d{4}-\d{2}-\d{2}/.exec(text ?? '') ?? [null])[0];
  const days = [day(query['from']), day(query['to']) ?? utcDay(visit.now)].filter((each) => each !== null);
  return exportName(visit, rowsName, days);
}

function progressText({ account }: PortalVisit, rowsName: string): string {
  const progress = running.get(account.id);
  if (!progress) return '';
  const of = progress.total === 0 ? '' : ` of ${progress.total.toLocaleString('en-GB')}`;
  return `${progress.rows.toLocaleString('en-GB')}${of} ${rowsName} sent…`;
}

function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.max(1, Math.round(bytes / 1_000))} KB`;
  return `${Math.round(bytes / 100_000) / 10} MB`;
}

function busyPage(text: string): Page {
  return { status: 429, title: 'Export', body: html`<section class="empty"><h1>Not now</h1><p>${text}</p></section>` };
}
