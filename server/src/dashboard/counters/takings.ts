import type { Static } from 'typebox';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { networkName } from '../../networks/known-networks.ts';
import { summarySchema } from '../../transactions/routes.ts';
import type { Period } from '../patterns/period.ts';
import { minorOf } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';

export type Takings = Static<typeof summarySchema>;

/** What a counter took in whole days. Throws AppError `not_found`. */
export function readTakings({ api }: Visit, id: string, { from, to }: Period): Promise<Takings> {
  return api.call('summariseVirtualTerminal', summarySchema, { params: { id }, query: { from, to } });
}

/** By network, with their sum. */
export function networkTable(takings: Takings): Html {
  const row = (name: string, totals: Omit<Takings['by_method'][number], 'payment_method'>): Html => {
    const count = totals.count === 1 ? '1 payment' : `${totals.count.toLocaleString('en-GB')} payments`;
    const refunded = `${formatAmount(minorOf(totals.amount_paid))} less ${formatAmount(minorOf(totals.amount_refunded))}`;
    return html`<tr><th scope="row"><span class="first">${name}</span><span class="second">${count}</span></th>
<td class="number"><span class="first">${formatAmount(minorOf(totals.sum))}</span>
${totals.amount_refunded > 0 && html`<span class="second">${refunded}</span>`}</td></tr>`;
  };
  return html`<table class="list sums"><caption class="unseen">By network</caption>
<thead><tr><th scope="col">Network</th><th scope="col" class="number">Sum</th></tr></thead>
<tbody>${takings.by_method.map((each) => row(networkName(each.payment_method), each))}</tbody>
<tfoot>${row('Together', takings)}</tfoot></table>`;
}

interface Hour {
  hour: number;
  count: number;
  sumMinor: bigint;
}

/** What came in each hour of the day, whichever day it was. */
function byHourOfDay({ by_hour: hours }: Takings): Hour[] {
  const groups = Map.groupBy(hours, ({ hour }) => new Date(hour).getUTCHours());
  return [...groups]
    .map(([hour, rows]) => ({
      hour,
      count: rows.reduce((sum, row) => sum + row.count, 0),
      sumMinor: rows.reduce((sum, row) => sum + minorOf(row.sum), 0n),
    }))
    .toSorted((left, right) => left.hour - right.hour);
}

const hoursOfDay = 24;
const barUnits = 30;
const chartHeight = 160;
const labelsEvery = 6;

/** Bars from zero for the hours of the day, with the same figures as a table. */
export function hourChart(takings: Takings): Html {
  const hours = byHourOfDay(takings);
  const largest = hours.reduce((most, { sumMinor }) => (sumMinor > most ? sumMinor : most), 1n);
  const bar = ({ hour, count, sumMinor }: Hour): Html => {
    const height = sumMinor <= 0n ? 0 : Math.max(2, Number((sumMinor * BigInt(chartHeight)) / largest));
    return html`<rect x="${hour * barUnits + 3}" y="${chartHeight - height}" width="${barUnits - 6}" height="${height}">
<title>${clockText(hour)}: ${formatAmount(sumMinor)}, ${count}</title></rect>`;
  };
  const labels = Array.from({ length: hoursOfDay / labelsEvery }, (_, index) => index * labelsEvery);
  const busiest = hours.find(({ sumMinor }) => sumMinor === largest);
  return html`<svg class="hours" viewBox="0 0 ${hoursOfDay * barUnits} ${chartHeight + 32}" role="img" aria-label="Collected by hour of the day${
    busiest && `; most from ${clockText(busiest.hour)}, ${formatAmount(busiest.sumMinor)}`
  }">
<path d="M0 ${chartHeight}.5H${hoursOfDay * barUnits}"/>${hours.map(bar)}
${labels.map((hour) => html`<text x="${hour * barUnits + 3}" y="${chartHeight + 26}">${clockText(hour)}</text>`)}</svg>
<details><summary>As a table</summary><table class="list sums"><caption class="unseen">By hour of the day</caption>
<thead><tr><th scope="col">Hour</th><th scope="col" class="number">Payments</th><th scope="col" class="number">Sum</th></tr></thead>
<tbody>${hours.map(
    ({ hour, count, sumMinor }) =>
      html`<tr><th scope="row">${clockText(hour)}</th><td class="number">${count}</td><td class="number">${formatAmount(sumMinor)}</td></tr>`,
  )}</tbody></table></details>`;
}

function clockText(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}
