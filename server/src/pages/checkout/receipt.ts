import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import { icon } from '../icons.ts';
import { foreignText, formatSince, formatTime } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { shopLink } from './links.ts';
import { bigAmount } from './summary.ts';

/** The payer's receipt, for the screen, a screenshot or paper. */
export function receipt(model: CheckoutPageModel, step: 'paid' | 'reversed'): Html {
  const { view } = model;
  const reversed = step === 'reversed';
  return html`<section class="step ended receipt" aria-labelledby="step">
<p class="seal ${reversed ? 'wait' : 'good'}">${icon(reversed ? 'back' : 'check')}</p>
<h1 id="step">${reversed ? 'Taken back by the network' : html`Paid to ${foreignText(view.merchantName)}`}</h1>
${bigAmount(paidMinor(view))}
${!reversed && counterProof(model)}
${afterwards(view)}
${lines(view)}
<div class="actions">
${shopLink(view.returnUrl, view.merchantName)}
${!reversed && html`<p class="quiet"><button type="button" class="link" data-print hidden>Print or save this receipt</button></p>`}
</div>
</section>`;
}

/** What staff compare at the counter. A screenshot of an old receipt shows an old code and a stopped clock. */
function counterProof({ view, now }: CheckoutPageModel): Html {
  const { charge, counterName } = view;
  if (counterName === null || charge === null || charge.paidAt === null) return html``;
  const sinceMs = Math.max(0, now.getTime() - charge.paidAt.getTime());
  return html`<div class="proof good">
<p class="code" aria-label="Code ${charge.shortCode.split('').join(' ')}">${charge.shortCode}</p>
<p>Counter <b>${foreignText(counterName)}</b></p>
<p>Paid <span data-since-ms="${sinceMs}">${formatSince(sinceMs)}</span> ago</p>
</div>`;
}

/** The amount received, which is not the requested one if an operator accepted another. */
function paidMinor({ charge, totalMinor }: CheckoutView): bigint {
  return charge?.paidAt ? charge.amountPaidMinor : totalMinor;
}

function afterwards({ charge, merchantName }: CheckoutView): Html {
  if (charge?.status === 'refunded') {
    return html`<p class="notice wait">${icon('back')}<span>${foreignText(merchantName)} has since returned this payment to you.</span></p>`;
  }
  if (charge?.status === 'reversed') {
    return html`<p class="notice wait">${icon('warning')}<span>${foreignText(charge.networkName)} took this payment back after it was
made. Ask ${foreignText(merchantName)} before you pay again.</span></p>`;
  }
  return html``;
}

function lines(view: CheckoutView): Html {
  const { charge } = view;
  return html`<dl class="lines">
<div><dt>To</dt><dd>${foreignText(view.merchantName)}</dd></div>
${view.title !== null && html`<div><dt>For</dt><dd>${foreignText(view.title)}</dd></div>`}
${
  view.feeMinor > 0n &&
  html`<div><dt>Amount</dt><dd>${formatAmount(view.amountMinor)}</dd></div>
<div><dt>Fee</dt><dd>${formatAmount(view.feeMinor)}</dd></div>
<div><dt>Total</dt><dd>${formatAmount(view.totalMinor)}</dd></div>`
}
${paidMinor(view) !== view.totalMinor && html`<div><dt>Asked for</dt><dd>${formatAmount(view.totalMinor)}</dd></div>`}
${
  charge !== null &&
  html`<div><dt>From</dt><dd>${charge.networkName}${
    charge.maskedNumber !== '' && html` <span class="masked">${charge.maskedNumber}</span>`
  }</dd></div>
${
  charge.paidAt !== null &&
  html`<div><dt>Time</dt><dd><time datetime="${charge.paidAt.toISOString()}">${formatTime(charge.paidAt)}</time></dd></div>`
}
<div><dt>Reference</dt><dd class="reference">${charge.transactionReference}</dd></div>`
}
</dl>`;
}
