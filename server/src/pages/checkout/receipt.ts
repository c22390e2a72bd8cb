import { html, type Html } from '../../kit/html.ts';
import type { CheckoutCharge, CheckoutView } from '../../payments/checkout-view.ts';
import { icon } from '../icons.ts';
import { shopContact, merchantLogo } from '../merchant-appearance.ts';
import { amountText, foreignText, formatSince, formatTime } from '../page-text.ts';
import { openPromptWarning } from './change-number.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { shareLinks, shopLink } from './links.ts';
import type { ReceiptStep } from './step.ts';
import { customFieldLines, bigAmount } from './summary.ts';

/** The payer's receipt, for the screen, a screenshot or paper. What was returned replaces the seal, for ever. */
export function receipt(model: CheckoutPageModel, step: ReceiptStep): Html {
  const { view, url } = model;
  const { t } = model.language;
  const merchant = foreignText(view.merchantName);
  return html`<section class="step ended receipt" aria-labelledby="step">
<p class="paper">${t('receipt')}</p>
${step === 'paid' ? paidSeal(model) : returnedSeal(model, step)}
<h1 id="step">${merchantLogo(model.appearance)}${t('paid-to', { merchant })}</h1>
${openPromptWarning(model)}
${lines(model)}
${step !== 'paid' && shopContact(t, model.appearance)}
<p class="paper">${t('issued-by', { merchant })} ${t('verify-at')} <span class="address">${url}</span></p>
<div class="actions">
${shopLink(model, view.returnUrl)}
${shareLinks(model)}
</div>
</section>`;
}

/**
 * What staff compare at the counter, at arm's length: a solid seal, the short code of their own message, and a running clock. A
 * screenshot of an old receipt shows an old code and a stopped clock.
 */
function paidSeal(model: CheckoutPageModel): Html {
  const { charge, counterName } = model.view;
  const { t } = model.language;
  return html`<div class="stamp">
<p class="word">${icon('check')}${t('paid')}</p>
${bigAmount(paidMinor(model.view))}
${counterName !== null && charge?.paidAt && counterProof(model, charge, charge.paidAt)}
</div>`;
}

function counterProof({ view, now, language }: CheckoutPageModel, { shortCode }: CheckoutCharge, paidAt: Date): Html {
  const { t } = language;
  const sinceMs = Math.max(0, now.getTime() - paidAt.getTime());
  const since = html`<b data-since-ms="${sinceMs}">${formatSince(sinceMs, language)}</b>`;
  return html`<p class="code" aria-label="${t('short-code', { code: shortCode.split('').join(' ') })}">${shortCode}</p>
<p>${t('counter', { counter: html`<b>${foreignText(view.counterName ?? '')}</b>` })} · ${t('paid-since', { since })}</p>`;
}

function returnedSeal(model: CheckoutPageModel, step: Exclude<ReceiptStep, 'paid'>): Html {
  const { t } = model.language;
  return html`<p class="seal wait">${icon('back')}</p>
<p class="word">${t(headings[step])}</p>
${bigAmount(paidMinor(model.view))}
${whatWasReturned(model, step).map(
  (sentence) => html`<p class="notice wait">${icon('back')}<span>${sentence}</span></p>`,
)}`;
}

const headings = { partly_returned: 'partly-returned', refunded: 'refunded', reversed: 'taken-back' } as const;

function whatWasReturned({ view, language: { t } }: CheckoutPageModel, step: Exclude<ReceiptStep, 'paid'>): Html[] {
  const merchant = foreignText(view.merchantName);
  const network = foreignText(view.charge?.networkName ?? '');
  if (step === 'refunded') return [t('refunded-text', { merchant })];
  if (step === 'reversed') return [t('taken-back-text', { network, merchant })];
  const { amountRefundedMinor = 0n, amountReversedMinor = 0n } = view.charge ?? {};
  return [
    ...(amountRefundedMinor > 0n
      ? [t('partly-refunded-text', { merchant, amount: amountText(amountRefundedMinor) })]
      : []),
    ...(amountReversedMinor > 0n
      ? [t('partly-taken-back-text', { network, amount: amountText(amountReversedMinor) })]
      : []),
  ];
}

/** The amount received, which is not the requested one if an operator accepted another. */
function paidMinor({ charge, totalMinor }: CheckoutView): bigint {
  return charge?.paidAt ? charge.amountPaidMinor : totalMinor;
}

function lines(model: CheckoutPageModel): Html {
  const { view } = model;
  const { t } = model.language;
  return html`<dl class="lines">
<div><dt>${t('line-to')}</dt><dd>${foreignText(view.merchantName)}</dd></div>
${view.title !== null && html`<div><dt>${t('line-for')}</dt><dd>${foreignText(view.title)}</dd></div>`}
${customFieldLines(view)}
${
  view.feeMinor > 0n &&
  html`<div><dt>${t('amount')}</dt><dd>${amountText(view.amountMinor)}</dd></div>
<div><dt>${t('fee')}</dt><dd>${amountText(view.feeMinor)}</dd></div>
<div><dt>${t('total')}</dt><dd>${amountText(view.totalMinor)}</dd></div>`
}
${paidMinor(view) !== view.totalMinor && html`<div><dt>${t('asked-for')}</dt><dd>${amountText(view.totalMinor)}</dd></div>`}
${view.charge !== null && chargeLines(model, view.charge)}
</dl>`;
}

function chargeLines({ language }: CheckoutPageModel, charge: CheckoutCharge): Html {
  const { t } = language;
  return html`<div><dt>${t('line-from')}</dt><dd>${foreignText(charge.networkName)}${
    charge.maskedNumber !== '' && html` <span class="unbroken">${charge.maskedNumber}</span>`
  }</dd></div>
${
  charge.paidAt !== null &&
  html`<div><dt>${t('line-time')}</dt><dd><time datetime="${charge.paidAt.toISOString()}">${formatTime(charge.paidAt, language)}</time></dd></div>`
}
<div><dt>${t('reference')}</dt><dd class="reference">${charge.transactionReference}</dd></div>`;
}
