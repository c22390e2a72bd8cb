import { isDay } from '../../kit/time-or-day.ts';
import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { isUuid } from '../../kit/ids.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { knownNetworks, networkName } from '../../networks/known-networks.ts';
import { rowsPerPage } from '../../portal/patterns/page-of-list.ts';
import type { ListPage } from '../../portal/patterns/list-page.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { dayText, rateText } from '../../portal/patterns/texts.ts';
import { addFigures, noFigures, successRate, type Figures } from '../../reports/figures.ts';
import { readTotals, totalsKey, type TotalsKeys, type TotalsRow } from '../../reports/read-totals.ts';
import { merchantsOf } from '../businesses/business.ts';
import { listRoutes, type ConsoleKind } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';

/** Figures of one row, with their names. */
interface ShownTotals extends TotalsRow {
  id: string;
  merchant: Merchant | undefined;
  networkText: string;
}

const divisions: readonly { value: string; text: string; keys: TotalsKeys }[] = [
  { value: 'network', text: 'Network', keys: { byDay: false, byMerchant: false, byNetwork: true } },
  { value: 'business', text: 'Business', keys: { byDay: false, byMerchant: true, byNetwork: false } },
  { value: 'all', text: 'Day, business and network', keys: { byDay: true, byMerchant: true, byNetwork: true } },
];
const dayKeys: TotalsKeys = { byDay: true, byMerchant: false, byNetwork: false };

// Figures of a day are a sum over its records until the day is closed, so a page shows no more than a year of them.
const daysMax = 366;
const daysDefault = 30;

interface Selection {
  from: string;
  to: string;
  keys: TotalsKeys;
  network: string | null;
  /** A business by its id, or a part of its name. */
  business: string;
}

/** Of the last 30 days, unless days are chosen. */
function selectionOf(query: PageInput['query'], now: Date): Selection {
  const { from: sentFrom = '', to: sentTo = '', rows, network = '', business = '' } = query;
  const today = utcDay(now);
  const to = isDay(sentTo) && sentTo < today ? sentTo : today;
  const earliest = utcDay(addMs(new Date(to), -(daysMax - 1) * dayMs));
  const usual = utcDay(addMs(new Date(to), -(daysDefault - 1) * dayMs));
  const chosen = isDay(sentFrom) && sentFrom <= to ? sentFrom : usual;
  const keys = divisions.find(({ value }) => value === rows)?.keys ?? dayKeys;
  const from = chosen < earliest ? earliest : chosen;
  return { from, to, keys, network: network === '' ? null : network, business: business.trim().toLowerCase() };
}

const totalsOfVisits = new WeakMap<ConsoleVisit, Promise<ShownTotals[]>>();

/** Those of a request, read once: a file has its rows in parts, whose sums must not differ. */
function totalsOf(visit: ConsoleVisit, query: PageInput['query']): Promise<ShownTotals[]> {
  const totals = totalsOfVisits.get(visit) ?? sumTotals(visit, query);
  totalsOfVisits.set(visit, totals);
  return totals;
}

/** Newest day first, then by name: the order of the list and of its file. */
async function sumTotals(visit: ConsoleVisit, query: PageInput['query']): Promise<ShownTotals[]> {
  const { from, to, keys, network, business } = selectionOf(query, visit.now);
  const merchants = await merchantsOf(visit);
  const owners = [...merchants.values()].filter(({ businessId, name }) =>
    isUuid(business) ? businessId === business : name.toLowerCase().includes(business),
  );
  const { db } = visit.money;
  const rows = await readTotals(db, owners, { range: { from, to }, keys, network });
  return rows
    .map((row) => ({
      ...row,
      id: totalsKey(row),
      merchant: merchants.get(row.merchantId),
      networkText: row.network === '' ? '' : networkName(row.network),
    }))
    .toSorted(
      (one, other) =>
        other.day.localeCompare(one.day) ||
        (one.merchant?.name ?? '').localeCompare(other.merchant?.name ?? '') ||
        one.id.localeCompare(other.id),
    );
}

function sumOf(rows: readonly ShownTotals[]): Figures {
  return rows.reduce<Figures>((sum, row) => addFigures(sum, row), noFigures);
}

function rowsAfter(rows: readonly ShownTotals[], before: string | null, limit: number): ShownTotals[] {
  const start = before === null ? 0 : rows.findIndex(({ id }) => id === before) + 1;
  return rows.slice(start, start + limit);
}

function successOf(figures: Figures): string {
  return rateText(successRate(figures));
}

/** What a row is of, with the other page that has its parts. */
function nameOf({ day, merchant, network, networkText }: ShownTotals): Html {
  const parts = [
    ...(day === '' ? [] : [html`${dayText(day)}`]),
    ...(merchant ? [foreignText(merchant.name)] : []),
    ...(network === '' ? [] : [html`${networkText}`]),
  ];
  return parts.length === 0
    ? html`Without a network`
    : html`${parts.map((part, index) => html`${index > 0 && ', '}${part}`)}`;
}

/** All figures of the chosen days together: what the rows add up to. */
function sumLine(sum: Figures): Html {
  const parts: (readonly [string, bigint])[] = [
    ['Collected', sum.collectedMinor],
    ...(sum.directMinor === 0n ? [] : [['Received directly by businesses', sum.directMinor] as const]),
    ...(sum.directBackMinor === 0n ? [] : [['Given or taken back directly', sum.directBackMinor] as const]),
    ['Paid out', sum.paidOutMinor],
    ['Refunded', sum.refundedMinor],
    ['Taken back', sum.reversedMinor],
    ['Came back', sum.returnedMinor],
    ['Fees', sum.feesMinor],
  ];
  return html`<dl class="panel figures">${parts.map(
    ([name, minor]) => html`<div><dt>${name}</dt><dd>${formatAmount(minor)}</dd></div>`,
  )}<div><dt>Paid, of payments tried and ended</dt><dd>${successOf(sum)}</dd></div></dl>`;
}

const totalsPage: ListPage<ShownTotals, ConsoleKind> = {
  path: '/totals',
  action: 'records.read',
  title: 'Totals',
  noun: ['row', 'totals', 'collected'],
  async filters() {
    const networks = knownNetworks.map(({ id, displayName }) => ({ value: id, text: displayName }));
    return [
      { kind: 'search', name: 'business', label: 'Business: name or id' },
      { kind: 'select', name: 'rows', label: 'A row for each', options: divisions, unset: 'Day' },
      { kind: 'select', name: 'network', label: 'Network', options: networks, isMore: true },
      { kind: 'date', name: 'from', label: 'From' },
      { kind: 'date', name: 'to', label: 'To' },
    ];
  },
  async read(visit, query) {
    const all = await totalsOf(visit, query);
    const rows = rowsAfter(all, query['cursor'] ?? null, rowsPerPage);
    const sum = sumOf(all);
    const last = rows.at(-1);
    const { from, to } = selectionOf(query, visit.now);
    return {
      rows,
      total: all.length,
      nextCursor: last && last.id !== all.at(-1)?.id ? last.id : null,
      sumMinor: sum.collectedMinor,
      summary: html`<p class="hint">${dayText(from)} to ${dayText(to)}, ${visit.environment}. Money counts on the day it moved.</p>${sumLine(sum)}`,
    };
  },
  columns: [
    {
      header: 'Of',
      isMain: true,
      cell: (row) => html`<span class="first">${nameOf(row)}</span><span class="second phone">${successOf(row)}</span>`,
    },
    { header: 'Paid', cell: successOf },
    {
      header: 'Collected',
      isMain: true,
      isNumber: true,
      cell: (row) => html`<span class="first">${formatAmount(row.collectedMinor)}</span>
<span class="second phone">out ${formatAmount(row.paidOutMinor)}</span>`,
    },
    { header: 'Paid out', isNumber: true, cell: ({ paidOutMinor }) => formatAmount(paidOutMinor) },
    { header: 'Refunded', isNumber: true, cell: ({ refundedMinor }) => formatAmount(refundedMinor) },
    { header: 'Fees', isNumber: true, cell: ({ feesMinor }) => formatAmount(feesMinor) },
  ],
  href: hrefOf,
  empty: { text: 'Nothing has moved in the last 30 days.' },
  exported: {
    needs: 'totals.export',
    columns: [
      { header: 'environment', cell: (_row, { environment }) => environment },
      { header: 'day', cell: ({ day }) => day },
      { header: 'business_id', cell: ({ merchant }) => merchant?.businessId ?? '' },
      { header: 'business', cell: ({ merchant }) => cleanText(merchant?.name ?? '') },
      { header: 'network', cell: ({ network }) => network },
      { header: 'collected', cell: ({ collectedMinor }) => collectedMinor },
      { header: 'payments_paid', cell: ({ collectedCount }) => String(collectedCount) },
      { header: 'payments_not_paid', cell: ({ unpaidCount }) => String(unpaidCount) },
      { header: 'paid_out', cell: ({ paidOutMinor }) => paidOutMinor },
      { header: 'payouts', cell: ({ paidOutCount }) => String(paidOutCount) },
      { header: 'refunded', cell: ({ refundedMinor }) => refundedMinor },
      { header: 'refunds', cell: ({ refundedCount }) => String(refundedCount) },
      { header: 'taken_back', cell: ({ reversedMinor }) => reversedMinor },
      { header: 'came_back', cell: ({ returnedMinor }) => returnedMinor },
      { header: 'fees', cell: ({ feesMinor }) => feesMinor },
      { header: 'received_directly', cell: ({ directMinor }) => directMinor },
      { header: 'payments_received_directly', cell: ({ directCount }) => String(directCount) },
      { header: 'given_or_taken_back_directly', cell: ({ directBackMinor }) => directBackMinor },
    ],
    rows: async (visit, query, { limit, before }) => rowsAfter(await totalsOf(visit, query), before, limit),
    async totals(visit, query) {
      const all = await totalsOf(visit, query);
      return { total: all.length, sumMinor: sumOf(all).collectedMinor };
    },
  },
};

/** A day, network or business leads to its parts; a row of all three to the business. */
function hrefOf({ day, merchant, network }: ShownTotals): string {
  if (day !== '' && merchant) return `/totals?business=${merchant.businessId}`;
  if (day !== '') return `/totals?rows=all&from=${day}&to=${day}`;
  return merchant ? `/totals?business=${merchant.businessId}` : `/totals?network=${network}`;
}

export const totalsPages = listRoutes(totalsPage);
