import { barChart } from '../patterns/charts/bar-chart.ts';
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
    const refunded = `${formatAmount(minorOf(totals.amount_paid))} less ${formatAmount(minorOf(totals.amount_refunded))}`;
    return html`<tr><th scope="row"><span class="first">${name}</span><span class="second">${countText(totals.count)}</span></th>
<td class="number"><span class="first">${formatAmount(minorOf(totals.sum))}</span>
${totals.amount_refunded > 0 && html`<span class="second">${refunded}</span>`}</td></tr>`;
  };
  return html`<table class="list sums"><caption class="unseen">By network</caption>
<thead><tr><th scope="col">Network</th><th scope="col" class="number">Sum</th></tr></thead>
<tbody>${takings.by_method.map((each) => row(networkName(each.payment_method), each))}</tbody>
<tfoot>${row('Together', takings)}</tfoot></table>`;
}

const hoursOfDay = 24;
const labelsEvery = 6;

/** What came in each hour of the day, whichever day it was. */
export function hourChart({ by_hour: hours }: Takings): Html {
  const groups = Map.groupBy(hours, ({ hour }) => new Date(hour).getUTCHours());
  const points = Array.from({ length: hoursOfDay }, (_, hour) => {
    const rows = groups.get(hour) ?? [];
    const name = `${String(hour).padStart(2, '0')}:00`;
    return {
      ...{ name, label: hour % labelsEvery === 0 ? name : '', isOpen: false },
      amountMinor: rows.reduce((sum, row) => sum + minorOf(row.sum), 0n),
      note: countText(rows.reduce((sum, row) => sum + row.count, 0)),
    };
  });
  return barChart({
    ...{ id: 'hours', title: 'Collected by hour of the day', points },
    ...{ noteHeader: 'Payments', isOldestFirst: true },
  });
}

/** `1 payment`, `1,250 payments`. */
export function countText(count: number): string {
  return count === 1 ? '1 payment' : `${count.toLocaleString('en-GB')} payments`;
}
