import { AppError } from '../../api/app-error.ts';
import { utcDay } from '../../kit/clock.ts';
import type { Queryable } from '../../kit/db.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { isTime } from '../../kit/time-or-day.ts';
import { cleanText, foreignText, formatTime } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { successRate, type Dimension } from '../../reports/figures.ts';
import type { Owner } from '../../reports/live-figures.ts';
import { readRecords, type FigureRecord, type RecordFilter } from '../../reports/read-records.ts';
import { readDays, readDaysOf, readNames, type Report } from '../../reports/read-report.ts';
import type { Page, PageInput } from '../../portal/patterns/page-route.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { barChart, drawn } from '../patterns/charts/bar-chart.ts';
import { chartTable } from '../patterns/charts/chart-frame.ts';
import { rateChart } from '../patterns/charts/rate-chart.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import { dayText, shownTime } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { countText, figureText, shownFigures, successText, unpaid, type ShownFigure } from './figure-texts.ts';
import { isOneDay, pointsOf, readRange, type ShownRange } from './ranges.ts';

/** What is behind a figure: the days of a longer time, or the records of one day. Both add up to it. */
export const figurePage: DashboardRoute = {
  path: '/figures/:figure',
  action: 'figures.read',
  async handle(visit, input) {
    const shown = await readShown(visit, input);
    return isOneDay(shown.range) ? recordsPage(visit, shown) : daysPage(visit, shown);
  },
};

/** A figure of some days, whole or of one network, counter or link. */
export interface ShownPart {
  figure: ShownFigure;
  range: ShownRange;
  part: PartOfFigure | null;
  /** Of one day: only what moved before. */
  until: Date | null;
}

interface Shown extends ShownPart {
  cursor: string | null;
}

/** What an address names. Throws AppError `not_found`. */
export async function readShown(visit: Visit, { params, query }: PageInput): Promise<Shown> {
  const figure = [...shownFigures, unpaid].find(({ name }) => name === params['figure']);
  if (!figure) throw new AppError('not_found', 'There is no such figure.');
  const { until, cursor = null } = query;
  return {
    ...{ figure, range: readRange(query, visit.now), part: await readPart(visit, query), cursor },
    until: until !== undefined && isTime(until) ? new Date(until) : null,
  };
}

/** One network, counter or link. */
interface PartOfFigure {
  dimension: Dimension;
  key: string;
  name: string;
}

async function readPart({ money: { db }, merchant }: Visit, query: PageInput['query']): Promise<PartOfFigure | null> {
  const { network, counter = '', link = '' } = query;
  if (network !== undefined) {
    return { dimension: 'network', key: network, name: networkName(network) };
  }
  const [dimension, key] = isUuid(counter) ? (['counter', counter] as const) : (['link', link] as const);
  if (!isUuid(key)) return null;
  const names = await readNames(db, merchant.id, { terminalIds: [key], paymentLinkIds: [key] });
  return { dimension, key, name: cleanText(names.get(key) ?? 'Unknown') };
}

/** The address of the same list of other days, or of its file. */
function addressOf({ base }: Visit, { figure, part }: Shown, more: Record<string, string>, file = ''): string {
  const query = new URLSearchParams({ ...more, ...(part && { [part.dimension]: part.key }) });
  return `${base}/figures/${figure.name}${file}?${query.toString()}`;
}

/** What the list is of, what it adds up to, and its file. */
function headOf(visit: Visit, shown: Shown, total: Html): Html {
  const { figure, part, range, until } = shown;
  const days = range.tab === null ? { day: range.from } : { range: range.tab.name };
  const file = addressOf(visit, shown, { ...days, ...(until && { until: until.toISOString() }) }, '/file');
  return html`<header class="head"><div><h1>${figure.title}${part && html` · <bdi>${part.name}</bdi>`}</h1><p class="count">${total}</p></div>
<p class="actions"><a class="button small plain" href="${file}" download>Export</a></p></header>`;
}

/** The figures of its days. */
export function readReportOf(db: Queryable, owner: Owner, { range, part }: ShownPart): Promise<Report> {
  return part ? readDaysOf(db, owner, range, part) : readDays(db, owner, range);
}

async function daysPage(visit: Visit, shown: Shown): Promise<Page> {
  const { money, merchant, now } = visit;
  const { figure, range } = shown;
  const report = await readReportOf(money.db, merchant, shown);
  const hrefOf = (day: string): string => addressOf(visit, shown, { day });
  const points = pointsOf(report, range, { now, hrefOf });
  const isRate = figure === unpaid;
  const [first, last] = [report.slots[0], report.slots.at(-1)];
  const chart = isRate
    ? rateChart({
        id: 'figure',
        title: 'Success',
        points: points.map(({ figures, ...point }) => ({ ...point, ...successRate(figures) })),
      })
    : barChart({
        id: 'figure',
        title: figure.title,
        points: points.map(({ figures, ...point }) => ({ ...point, amountMinor: figure.amountOf(figures) })),
      });
  const days = report.slots.map(({ slot, figures }) => {
    const day = utcDay(slot);
    const at = { name: dayText(day), label: '', isOpen: false, href: hrefOf(day) };
    if (isRate) return { ...at, spoken: '', cells: [successText(figures), countText(figures.unpaidCount)] };
    return drawn(
      { ...at, amountMinor: figure.amountOf(figures), note: figure.noteOf?.(figures) ?? '' },
      Boolean(figure.noteOf),
    );
  });
  const headers = isRate ? ['Day', 'Success', 'Not paid'] : ['Day', 'Amount', ...(figure.noteOf ? ['Count'] : [])];
  return {
    title: figure.title,
    body: html`${headOf(
      visit,
      shown,
      html`${first && last && html`${dayText(utcDay(first.slot))} to ${dayText(utcDay(last.slot))}: `}<strong>${isRate ? successText(report.total) : figureText(figure, report.total)}</strong>`,
    )}
<section class="panel">${chart}</section>
<section>${chartTable(`${figure.title} by day`, headers, days.toReversed())}</section>`,
  };
}

async function recordsPage(visit: Visit, shown: Shown): Promise<Page> {
  const { figure, range, until, cursor } = shown;
  const page = { day: range.from, until, cursor, rowsMax: rowsPerPage, filter: recordFilter(shown) };
  const list = await readRecords(visit.money.db, visit.merchant, figure.records, page);
  const count = `${countText(list.totalCount)} ${list.totalCount === 1n ? 'entry' : 'entries'}`;
  const sum = figure === unpaid ? count : `${count}, ${formatAmount(list.totalMinor)}`;
  const more = { day: range.from, ...(until && { until: until.toISOString() }) };
  return {
    title: figure.title,
    body: html`${headOf(visit, shown, html`${dayText(range.from)}${until && html` until ${formatTime(until).split(', ')[1]}`}: <strong>${sum}</strong>`)}
${list.records.length === 0 ? html`<section class="empty"><p>Nothing on this day.</p></section>` : recordTable(visit, list.records, figure)}
<nav class="pages" aria-label="Pages">${list.nextCursor !== null && html`<a class="button small plain" rel="next" href="${addressOf(visit, shown, { ...more, cursor: list.nextCursor })}">Older</a>`}</nav>`,
  };
}

export function recordFilter({ part }: ShownPart): RecordFilter {
  return {
    network: part?.dimension === 'network' ? part.key : null,
    terminalId: part?.dimension === 'counter' ? part.key : null,
    paymentLinkId: part?.dimension === 'link' ? part.key : null,
  };
}

export const recordNames = { payments: 'Payment', transfers: 'Transfer', refunds: 'Refund' };

function recordTable({ base, now }: Visit, records: readonly FigureRecord[], { title }: ShownFigure): Html {
  const nameOf = ({ record, name }: FigureRecord): Html =>
    name === null || cleanText(name) === ''
      ? html`${record === null ? 'Entry' : recordNames[record]}`
      : foreignText(name);
  return html`<table class="list"><caption class="unseen">${title}</caption>
<thead><tr><th scope="col">For</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">Network</th><th scope="col" class="wide">Reference</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${records.map((row) => {
    const first = html`<span class="first">${nameOf(row)}</span>`;
    return html`<tr><td>${row.record === null ? first : html`<a href="${base}/${row.record}/${row.id}">${first}</a>`}<span class="second phone">${shownTime(row.at, now)}</span></td>
<td class="wide">${shownTime(row.at, now)}</td><td class="wide">${networkName(row.network)}</td><td class="wide">${row.reference}</td>
<td class="number"><span class="first">${formatAmount(row.amountMinor)}</span><span class="second phone">${networkName(row.network)}</span></td></tr>`;
  })}</tbody></table>`;
}
