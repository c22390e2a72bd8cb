import { utcDay } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { cleanText, foreignText, formatNumber } from '../../pages/page-text.ts';
import { qrCode } from '../../pages/qr-code.ts';
import { listPayments } from '../../payments/find-payment.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { paymentsPanel } from '../payments/payments-panel.ts';
import { beginningOfToday } from '../payments/visible-payment.ts';
import { recordHistory } from '../patterns/record-history.ts';
import { copyField } from '../../portal/patterns/copy-field.ts';
import { periodForm, periodOf, type Period } from '../patterns/period.ts';
import { facts, recordHead } from '../../portal/patterns/record-page.ts';
import { minorOf, timeInSentence } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { codeText, counterMark, readCounter, type Counter } from './read-counter.ts';
import { countText, hourChart, networkTable, readTakings, type Takings } from './takings.ts';

const newestMax = 10;

export const counterPage: DashboardRoute = {
  path: '/counters/:id',
  action: 'counters.use',
  async handle(visit, { params, query }) {
    const { money, merchant, now } = visit;
    const counter = await readCounter(visit, params['id']);
    const period = periodOf(query, now, 'today');
    const takings = await readTakings(visit, counter.id, period);
    const page = { limit: newestMax, offset: 0, before: null };
    // A cashier sees the day's payments only, here as in their list.
    const from = visit.may('payments.read').ownOnly ? beginningOfToday(visit) : undefined;
    const { rows } = await listPayments(money, merchant.id, page, { terminalIds: [counter.id], from, now });
    return {
      title: cleanText(counter.name),
      body: html`${head(visit, counter)}
<div class="columns">${takingsPanel(visit, { counter, period, takings })}
<div class="stack">${codePanel(counter)}${numbersPanel(visit, counter)}</div></div>
${paymentsPanel(visit, rows, { allHref: `/payments?counter=${counter.id}`, empty: 'No payments at this counter yet. Print its poster and hang it up.' })}
${visit.may('records.read').isAllowed && (await recordHistory(visit, { id: counter.id, createdAt: new Date(counter.createdAt) }))}`,
    };
  },
};

function head(visit: Visit, counter: Counter): Html {
  const path = `/counters/${counter.id}`;
  return recordHead(visit, {
    heading: foreignText(counter.name),
    state: counterMark(counter),
    actions: [
      { href: `${path}/screen`, text: 'Open the screen', needs: 'counters.use' },
      { href: `${path}/day`, text: 'Close the day', needs: 'counters.use' },
      { href: `${path}/poster`, text: 'Poster', needs: 'counters.write' },
      { href: `${path}/edit`, text: 'Change', needs: 'counters.write' },
      { href: `${path}/switch`, text: counter.active ? 'Switch off' : 'Switch on', needs: 'counters.write' },
      { href: `${path}/delete`, text: 'Delete', needs: 'counters.write', isDanger: true },
    ],
  });
}

function takingsPanel(
  visit: Visit,
  { counter, period, takings }: { counter: Counter; period: Period; takings: Takings },
): Html {
  const today = utcDay(visit.now);
  const title = period.from === today && period.to === today ? 'Today' : 'Collected';
  return html`<section class="panel"><h2>${title}</h2>
<p class="figure">${formatAmount(minorOf(takings.sum))} <span class="hint">${countText(takings.count)}</span></p>
${periodForm(`${visit.base}/counters/${counter.id}`, period)}
${
  takings.count === 0
    ? html`<p class="hint">Nothing was paid here in this time.</p>`
    : html`${networkTable(takings)}${hourChart(takings)}`
}</section>`;
}

function codePanel({ code, qr_code_url: url }: Counter): Html {
  return html`<section class="panel"><h2>How payers reach it</h2>
${facts([['Code', html`<strong>${codeText(code)}</strong>`]])}
${qrCode(url, `QR code of the counter ${codeText(code)}`)}
${copyField('counter-address', 'Address in the QR code', url)}</section>`;
}

/** Whose phones get a message; a cashier need not know the others' numbers. */
function numbersPanel({ may, now }: Visit, { chat_delivery: deliveries }: Counter): Html {
  if (!may('records.read').isAllowed || deliveries.length === 0) return html``;
  return html`<section class="panel"><h2>Who gets a message about each payment</h2>${facts(
    deliveries.map(({ number, status, updatedAt, failure }) => [
      formatNumber(number),
      status === null
        ? 'No message yet'
        : html`${cleanText(status)}${updatedAt !== null && html`, ${timeInSentence(new Date(updatedAt), now)}`}${failure !== null && html`: ${cleanText(failure)}`}`,
    ]),
  )}</section>`;
}
