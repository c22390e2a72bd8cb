import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { listPayments, type FoundPayment } from '../../payments/find-payment.ts';
import { totalMinor } from '../../payments/intent.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import type { Visit } from '../visit.ts';

// A phone shows the first five of them.
const rowsMax = 10;

export async function listNewest({ money, merchant, now }: Visit): Promise<FoundPayment[]> {
  const page = { limit: rowsMax, offset: 0, before: null };
  return (await listPayments(money, merchant.id, page, { now })).rows;
}

/** The newest payments, with a way to all of them. */
export function newestPayments(visit: Visit, rows: readonly FoundPayment[]): Html {
  const { base, may } = visit;
  if (rows.length === 0) {
    return html`<section class="empty"><p>No payments yet. Make a link, or take one at a counter.</p>${
      may('payments.write').isAllowed &&
      html`<p><a class="button small" href="${base}/payments/new">New payment</a></p>`
    }</section>`;
  }
  return html`<section aria-labelledby="newest"><header class="head"><h2 id="newest">Newest payments</h2><a href="${base}/payments">All payments</a></header>
${paymentTable(visit, rows)}</section>`;
}

/** Payments as short rows, for home and the results of a search. */
export function paymentTable({ base, now }: Visit, rows: readonly FoundPayment[]): Html {
  return html`<table class="list newest-payments"><caption class="unseen">Payments</caption>
<thead><tr><th scope="col">For</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">Network</th><th scope="col" class="wide">State</th><th scope="col" class="number">Amount</th></tr></thead>
<tbody>${rows.map((payment) => {
    const { intent, charge } = payment;
    const state = stateMark(paymentState(payment, { now }));
    const title = cleanText(intent.title ?? intent.description ?? intent.customerName ?? '') || 'Payment';
    const time = shownTime(intent.createdAt, now);
    return html`<tr><td><a href="${base}/payments/${intent.id}"><span class="first"><bdi>${title}</bdi></span></a><span class="second phone">${time}</span></td>
<td class="wide">${time}</td><td class="wide">${charge && networkName(charge.network)}</td><td class="wide">${state}</td>
<td class="number"><span class="first">${formatAmount(totalMinor(intent))}</span><span class="second phone">${state}</span></td></tr>`;
  })}</tbody></table>`;
}
