import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import type { Visit } from '../visit.ts';

/** For whoever has just signed up: how to see a payment arrive before anything is connected. Null where they may make none. */
export function firstPayment({ base, testMode, may }: Visit): Html | null {
  if (!testMode || !may('payments.write').isAllowed) return null;
  return html`<section class="panel" aria-labelledby="first-payment"><h2 id="first-payment">Take your first test payment</h2>
<ol class="first-steps">
<li>Make a payment, <a href="${base}/links/new">a payment link</a>, or <a href="${base}/counters/new">a counter</a> with a QR code to print.</li>
<li>Open its page on your phone, as your customer does, and pay with APS from the number <strong>700 0001</strong>. In test it says yes at once.</li>
<li>Watch it arrive in <a href="${base}/payments">Payments</a>: the list keeps itself up to date.</li>
</ol>
<p class="actions"><a class="button small" href="${base}/payments/new">New payment</a></p></section>`;
}
