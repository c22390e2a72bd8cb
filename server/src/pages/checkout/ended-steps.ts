import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { icon } from '../icons.ts';
import type { IconName } from '../icons.ts';
import { foreignText, formatTime } from '../page-text.ts';
import { failureText } from './failure-text.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { shopLink } from './links.ts';
import { hasOpenAttempt } from './step.ts';

/** No attempts are left. */
export function failedStep(model: CheckoutPageModel): Html {
  const { view } = model;
  const code = view.charge?.failureCode ?? 'refused_by_network';
  return ended({
    tone: 'bad',
    icon: 'cross',
    heading: 'The payment was not made',
    body: html`<p><b>${foreignText(view.charge?.networkName ?? 'The network')} did not take this payment.</b> ${failureText(code)}</p>
<p>You have not paid, and no tries are left. Ask ${foreignText(view.merchantName)} for a new payment.</p>`,
    after: shopLink(view.returnUrl, view.merchantName),
  });
}

export function cancelledStep(model: CheckoutPageModel): Html {
  const { view } = model;
  return ended({
    tone: 'calm',
    icon: 'cross',
    heading: 'This payment was cancelled',
    body: hasOpenAttempt(view) ? lateApproval(model) : html`<p>You have not paid.</p>`,
    after: shopLink(view.cancelUrl ?? view.returnUrl, view.merchantName),
  });
}

export function expiredStep(model: CheckoutPageModel): Html {
  const { view } = model;
  return ended({
    tone: 'calm',
    icon: 'clock',
    heading: 'The time to pay is over',
    body: html`<p>This payment was open until <time datetime="${view.expiresAt.toISOString()}">${formatTime(view.expiresAt)}</time>.</p>
${
  hasOpenAttempt(view)
    ? lateApproval(model)
    : html`<p>You have not paid. Ask ${foreignText(view.merchantName)} for a new payment.</p>`
}`,
    after: shopLink(view.cancelUrl ?? view.returnUrl, view.merchantName),
  });
}

/** Another amount than the requested one arrived: an operator decides, and the payer must not pay again. */
export function reviewStep({ view }: CheckoutPageModel): Html {
  const { charge, merchantName } = view;
  return ended({
    tone: 'wait',
    icon: 'eye',
    heading: 'Your payment is under review',
    body: html`<p><b>The payment arrived but does not match; the shop has been told.</b> Do not pay again.</p>
<dl class="lines">
<div><dt>Asked for</dt><dd>${formatAmount(view.totalMinor)}</dd></div>
${
  typeof charge?.arrivedMinor === 'bigint' &&
  html`<div><dt>Arrived</dt><dd>${formatAmount(charge.arrivedMinor)}</dd></div>`
}
${charge !== null && html`<div><dt>Reference</dt><dd class="reference">${charge.transactionReference}</dd></div>`}
</dl>
<p>${foreignText(merchantName)} will accept it or return the money. Keep the reference.</p>`,
    after: shopLink(view.returnUrl, merchantName),
  });
}

function lateApproval({ view }: CheckoutPageModel): Html {
  const network = foreignText(view.charge?.networkName ?? 'The network');
  return html`<p>If you approved it in ${network} all the same, it still counts: we are asking ${network}, this page will show it, and the
shop is told. <b>Do not pay again before you know.</b></p>
<p>Reference: <span class="reference">${view.charge?.transactionReference}</span></p>`;
}

interface Ended {
  tone: 'bad' | 'calm' | 'wait';
  icon: IconName;
  heading: string;
  body: Html;
  after: Html;
}

function ended(parts: Ended): Html {
  return html`<section class="step ended" aria-labelledby="step">
<p class="seal ${parts.tone}">${icon(parts.icon)}</p>
<h2 id="step">${parts.heading}</h2>
${parts.body}
${parts.after}
</section>`;
}
