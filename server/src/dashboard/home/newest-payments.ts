import { html, type Html } from '../../kit/html.ts';
import { listPayments, type FoundPayment } from '../../payments/find-payment.ts';
import { paymentTable } from '../payments/payments-panel.ts';
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
