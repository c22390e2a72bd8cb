import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { networkName } from '../../networks/known-networks.ts';
import { cleanText } from '../../pages/page-text.ts';
import { payerMinor, type FoundPayment } from '../../payments/find-payment.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import type { Visit } from '../visit.ts';

/** The newest payments of a link or counter, with a link to all of them. */
export function paymentsPanel(
  visit: Visit,
  payments: readonly FoundPayment[],
  { allHref, empty }: { allHref: string; empty: string },
): Html {
  if (payments.length === 0)
    return html`<section class="panel"><h2>Payments</h2><p class="hint">${empty}</p></section>`;
  return html`<section class="panel"><h2>Newest payments</h2>
${paymentTable(visit, payments)}
<p><a href="${visit.base}${allHref}">All its payments</a></p></section>`;
}

/** Payments as short rows, for home, the results of a search, and the page of a link or counter. */
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
<td class="number"><span class="first">${formatAmount(payerMinor(payment))}</span><span class="second phone">${state}</span></td></tr>`;
  })}</tbody></table>`;
}
