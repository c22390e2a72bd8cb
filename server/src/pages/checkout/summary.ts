import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import { foreignText, formatDuration, formatTime } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { awaitsPayer, stepOf } from './step.ts';

/** Merchant, amount, purpose and time limit, the same on every step. */
export function summary({ view, now }: CheckoutPageModel): Html {
  return html`<section class="summary" aria-label="The payment">
<h1>Pay ${foreignText(view.merchantName)}</h1>
${bigAmount(view.totalMinor)}
${purpose(view)}
${feeLines(view)}
${awaitsPayer(stepOf(view)) && timeLeft(view, now)}
</section>`;
}

/** The bututs are smaller: almost all amounts are in whole dalasi. */
export function bigAmount(minor: bigint): Html {
  const [whole, fraction] = formatAmount(minor).split('.');
  return html`<p class="amount">${whole}<small>.${fraction}</small></p>`;
}

function purpose(view: CheckoutView): Html {
  return html`${view.title !== null && html`<p class="purpose">${foreignText(view.title)}</p>`}
${view.description !== null && html`<p class="description">${foreignText(view.description)}</p>`}`;
}

/** Amount, fee and total if the payer pays the fee, else nothing. */
export function feeLines(payment: Pick<CheckoutView, 'amountMinor' | 'feeMinor' | 'totalMinor'>): Html {
  if (payment.feeMinor === 0n) return html``;
  return html`<dl class="lines">
<div><dt>Amount</dt><dd>${formatAmount(payment.amountMinor)}</dd></div>
<div><dt>Fee</dt><dd>${formatAmount(payment.feeMinor)}</dd></div>
<div class="total"><dt>Total</dt><dd>${formatAmount(payment.totalMinor)}</dd></div>
</dl>`;
}

function timeLeft(view: CheckoutView, now: Date): Html {
  const leftMs = Math.max(0, view.expiresAt.getTime() - now.getTime());
  return html`<p class="until"><span>Pay by <time datetime="${view.expiresAt.toISOString()}">${formatTime(view.expiresAt)}</time></span>
<span><span data-left-ms="${leftMs}">${formatDuration(leftMs)}</span> left</span></p>`;
}
