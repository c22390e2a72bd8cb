import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { firstMoment, isDay } from '../../kit/time-or-day.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { facts } from '../../portal/patterns/record-page.ts';
import { dayText, minorOf, timeInSentence } from '../../portal/patterns/texts.ts';
import { codeText, readCounter } from './read-counter.ts';
import { networkTable, readTakings } from './takings.ts';

/** What a counter took on one day, as a page to print and put with the till's papers. */
export const closeDay: DashboardRoute = {
  path: '/counters/:id/day',
  action: 'counters.use',
  async handle(visit, { params, query }) {
    const { base, merchant, testMode, now } = visit;
    const counter = await readCounter(visit, params['id']);
    const today = utcDay(now);
    const sent = query['date'] ?? '';
    const date = isDay(sent) && sent <= today ? sent : today;
    const takings = await readTakings(visit, counter.id, { from: date, to: date });
    const path = `${base}/counters/${counter.id}/day`;
    const [before, after] = [-dayMs, dayMs].map((ms) => utcDay(addMs(firstMoment(date), ms)));
    return {
      title: `${cleanText(counter.name)}, ${dayText(date)}`,
      body: html`<header class="head"><div><h1>${foreignText(counter.name)}, ${dayText(date)}</h1>
<p>${foreignText(merchant.name)}, counter ${codeText(counter.code)}, ${testMode ? 'test: no real money' : 'live'}</p></div>
<p class="actions"><a class="button small plain" href="${path}?date=${before}">The day before</a>
${date < today && html`<a class="button small plain" href="${path}?date=${after}">The day after</a>`}
<button type="button" class="button small" data-print hidden>Print</button></p></header>
<section class="panel">${facts([
        ['Payments', takings.count.toLocaleString('en-GB')],
        ['Paid', formatAmount(minorOf(takings.amount_paid))],
        ['Refunded', formatAmount(-minorOf(takings.amount_refunded))],
        ['Sum of the day', html`<strong>${formatAmount(minorOf(takings.sum))}</strong>`],
      ])}
${takings.count === 0 ? html`<p class="hint">Nothing was paid at this counter on this day.</p>` : networkTable(takings)}
<p class="hint">As of ${timeInSentence(now, now)}. ${date === today && 'The day is not over: payments that come later are not in it.'}
A refund counts on the day of its payment.</p></section>
<p class="actions"><a href="${base}/counters/${counter.id}">Back to the counter</a></p>`,
    };
  },
};
