import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { cleanText, foreignText } from '../../pages/page-text.ts';
import type { FoundPayment } from '../../payments/find-payment.ts';
import { totalMinor } from '../../payments/intent.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { paymentState } from '../../portal/records/payment-state.ts';

/** The newest payments of a link or counter, with a link to all of them. */
export function paymentsPanel(
  { base, now }: Visit,
  payments: readonly FoundPayment[],
  { allHref, empty }: { allHref: string; empty: string },
): Html {
  if (payments.length === 0)
    return html`<section class="panel"><h2>Payments</h2><p class="hint">${empty}</p></section>`;
  return html`<section class="panel"><h2>Newest payments</h2>
<table class="list"><caption class="unseen">Newest payments</caption>
<thead><tr><th scope="col">For</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">State</th>
<th scope="col" class="number">Amount</th></tr></thead>
<tbody>${payments.map((payment) => {
    const { intent } = payment;
    const mark = stateMark(paymentState(payment, { now }));
    const title = intent.title ?? intent.description ?? intent.customerName ?? '';
    return html`<tr><td><a href="${base}/payments/${intent.id}"><span class="first">${cleanText(title) === '' ? 'Payment' : foreignText(title)}</span>
<span class="second phone">${shownTime(intent.createdAt, now)}</span></a></td>
<td class="wide">${shownTime(intent.createdAt, now)}</td><td class="wide">${mark}</td>
<td class="number"><span class="first">${formatAmount(totalMinor(intent))}</span><span class="second phone">${mark}</span></td></tr>`;
  })}</tbody></table>
<p><a href="${base}${allHref}">All its payments</a></p></section>`;
}
