import { maskedChanges } from '../../audit/masked-fields.ts';
import { fieldError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { amountToJson, formatAmount } from '../../kit/money.ts';
import { payAtTerminal } from '../../links/pay-at-terminal.ts';
import { payOnce } from '../../links/pay-once.ts';
import { hashOfForm } from '../../pages/collect/form-id.ts';
import { readAmount } from '../../kit/read-amount.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import { qrCode } from '../../pages/qr-code.ts';
import { payerMinor } from '../../payments/find-payment.ts';
import { paymentLink } from '../../payments/intent-wire.ts';
import { isOpen, statusAt } from '../../payments/intent.ts';
import type { VirtualTerminal } from '../../terminals/terminal.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { audit } from '../patterns/act.ts';
import { formRoutes } from '../patterns/form-page.ts';
import type { Submitted } from '../../portal/patterns/form-page.ts';
import { stateMark } from '../../portal/patterns/texts.ts';
import { paymentVersion } from '../payments/payment-page.ts';
import { findVisiblePayment } from '../payments/visible-payment.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import type { Visit } from '../visit.ts';
import { codeOf, drawArrivals, readArrivals, shownMax } from './arrivals.ts';
import { appIcons } from './app-icons.ts';
import { findOwnCounter } from './own-counter.ts';

const path = '/counters/:id/screen';
const refreshSeconds = 10;

const screen: DashboardRoute = {
  action: 'counters.use',
  path,
  async handle(visit, { params }) {
    const counter = await findOwnCounter(visit, params['id']);
    const arrivals = await readArrivals(visit, counter.id);
    const { base, may } = visit;
    const here = `${base}/counters/${counter.id}`;
    return {
      title: `Counter ${cleanText(counter.name)}`,
      frame: 'screen',
      head: html`<link rel="manifest" href="${here}/screen/manifest" crossorigin="use-credentials">
<link rel="apple-touch-icon" href="${appIcons[0]?.path}">
<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`,
      body: html`<header class="head" ${listens(`${base}/stream?counter=${counter.id}`)}><h1>${foreignText(counter.name)}</h1>
<p class="live-line">${liveState}
<button type="button" id="sound" class="button small plain" aria-pressed="false" hidden>Sound off</button></p></header>
<p class="notice wait lost-note">Arrivals are not shown while the connection is lost.</p>
<p id="meanwhile" class="notice meanwhile" hidden><span role="status"></span><a href="${base}/payments?counter=${counter.id}">All payments</a>
<button type="button" class="button small plain">Seen</button></p>
<p id="announced" class="unseen" role="status"></p>
<div id="arrivals" class="arrivals" data-most="${shownMax}">${drawArrivals(visit, arrivals)}</div>
<p class="actions always">${may('payments.write').isAllowed && html`<a class="button small" href="${here}/screen/amount">Enter an amount</a>`}
<a class="button small plain" href="${here}/day">Close the day</a>
<a class="button small plain" href="${base}/counters">All counters</a></p>`,
    };
  },
};

/** A tablet's screen listens as long as it is open, also while another window covers it. */
function listens(stream: string): Html {
  return html`hx-sse:connect="${stream}" hx-swap="none" hx-config="sse:{pauseOnBackground:false}"`;
}

/** Says so too where the script has not come, on a slow line: nothing appears by itself then. */
const liveState = html`<span id="live" class="live">Not live yet</span><noscript>Reloads every ${refreshSeconds} seconds</noscript>`;

/** What makes the screen an app on a tablet. Its address is this counter's, in this environment. */
const manifest: DashboardRoute = {
  action: 'counters.use',
  path: `${path}/manifest`,
  async handle(visit, { params }) {
    const counter = await findOwnCounter(visit, params['id']);
    const { base, testMode } = visit;
    const start = `${base}/counters/${counter.id}/screen`;
    const name = `${testMode ? 'Test: ' : ''}${cleanText(counter.name)}`;
    const text = JSON.stringify({
      ...{ id: start, name, short_name: name, start_url: start, scope: `${base}/`, display: 'standalone' },
      ...{ background_color: '#eef2ee', theme_color: '#0b6a55' },
      icons: appIcons.map(({ path: src, size }) => ({
        src,
        sizes: `${size}x${size}`,
        type: 'image/png',
        purpose: 'any maskable',
      })),
    });
    const download = { name: 'counter.webmanifest', contentType: 'application/manifest+json', isInline: true };
    return { download: { ...download, bytes: Buffer.from(text) } };
  },
};

/** Staff type the amount, so that the payer types nothing. */
const amount = formRoutes<VirtualTerminal>({
  action: 'payments.write',
  path: `${path}/amount`,
  frame: 'screen',
  load: (visit, { params }) => findOwnCounter(visit, params['id']),
  view: (counter) => ({
    heading: 'Enter an amount',
    effect: html`<p>${foreignText(counter.name)}: the payer scans the code that comes next.</p>`,
    fields: [{ kind: 'amount', name: 'amount', label: 'Amount in dalasi', isRequired: true }],
    button: 'Show the code',
    back: { href: `/counters/${counter.id}/screen`, text: 'Back to the counter' },
  }),
  submit: payAtCounter,
});

/** As the payer's own form at the counter does it: two taps, one payment. */
async function payAtCounter(
  visit: Visit,
  { subject: counter, input, formId }: Submitted<VirtualTerminal>,
): Promise<string> {
  const { money, merchant } = visit;
  const typed = readAmount(input.form['amount'] ?? '');
  // The form has read every other one.
  if (!('amountMinor' in typed)) throw fieldError('invalid_request', 'amount', 'Type the amount to be paid.');
  const { amountMinor } = typed;
  const formHash = hashOfForm({ ownerId: counter.id, formId, amountMinor });
  const intent = await payOnce(money, {
    form: { merchantId: merchant.id, formHash },
    cause: { requestId: visit.requestId },
    // A person's taps need no limit but their session's.
    countPayment: async () => {},
    async create(tx) {
      const created = await payAtTerminal(tx, money, merchant, counter, { amountMinor, formHash });
      audit(tx, visit, {
        action: 'createPaymentAtCounter',
        object: { type: 'payment', id: created.id },
        changes: maskedChanges({ amount: amountToJson(amountMinor), counter: counter.id }),
      });
      return created;
    },
  });
  return `/counters/${counter.id}/screen/payments/${intent.id}`;
}

const waiting: DashboardRoute = {
  action: 'counters.use',
  path: `${path}/payments/:payment`,
  async handle(visit, { params }) {
    const counter = await findOwnCounter(visit, params['id']);
    const payment = await findVisiblePayment(visit, { params: { id: params['payment'] ?? '' }, query: {} });
    const { base, now } = visit;
    const { intent } = payment;
    const here = `${base}/counters/${counter.id}/screen`;
    const version = paymentVersion(visit, payment);
    const state = paymentState(payment, { now });
    const isWaiting = isOpen(statusAt(intent, now));
    return {
      title: formatAmount(payerMinor(payment)),
      frame: 'screen',
      ...(isWaiting && {
        head: html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>`,
      }),
      body: html`${isWaiting && html`<p class="live-line" ${listens(`${base}/stream?payment=${intent.id}&version=${version}`)}>${liveState}</p>`}
<div id="record" class="record" hx-get="${here}/payments/${intent.id}" hx-trigger="changed from:body" hx-select="#record" hx-swap="outerMorph">
<section class="arrivals newest"><h1 class="large">${formatAmount(payerMinor(payment))}</h1>
${intent.status === 'successful' && html`<p class="code">${codeOf(payment)}</p>`}
<p class="stated" role="status">${stateMark(state)}</p>
${isWaiting && codeToScan(paymentLink(visit.money, intent))}</section>
<p class="actions"><a class="button small ${isWaiting && 'plain'}" href="${here}">Back to the counter</a>
${!isWaiting && html`<a class="button small plain" href="${here}/amount">Enter an amount</a>`}</p></div>`,
    };
  },
};

function codeToScan(link: string): Html {
  return html`${qrCode(link, 'QR code of this payment')}<p><a href="${link}">${link}</a></p>`;
}

export const counterScreen: readonly DashboardRoute[] = [screen, manifest, ...amount, waiting];
