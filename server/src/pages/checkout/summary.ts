import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Translate } from '../../languages/languages.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import { merchantLogo } from '../merchant-appearance.ts';
import { amountText, foreignLines, foreignText, formatDuration, formatTimeFrom } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { awaitsPayer, stepOf } from './step.ts';

/** Merchant, amount, purpose and time limit, the same on every step. */
export function summary(model: CheckoutPageModel): Html {
  const { view } = model;
  const { t } = model.language;
  return html`<section class="summary" aria-label="${t('the-payment')}">
<h1>${merchantLogo(model.appearance)}${t('pay-merchant', { merchant: foreignText(view.merchantName) })}</h1>
${bigAmount(view.totalMinor)}
${purpose(view)}
${view.customFields.length > 0 && html`<dl class="lines">${customFieldLines(view)}</dl>`}
${feeLines(t, view)}
${awaitsPayer(stepOf(view)) && timeLeft(model)}
</section>`;
}

/** The bututs are smaller: almost all amounts are in whole dalasi. */
export function bigAmount(minor: bigint): Html {
  const [whole, fraction] = formatAmount(minor).split('.');
  return html`<p class="amount">${whole}<small>.${fraction}</small></p>`;
}

/** What the payer answered on a link's page. */
export function customFieldLines({ customFields }: CheckoutView): Html {
  return html`${customFields.map(
    ({ label, value }) => html`<div><dt>${foreignText(label)}</dt><dd>${foreignText(value)}</dd></div>`,
  )}`;
}

function purpose(view: CheckoutView): Html {
  return html`${view.title !== null && html`<p class="purpose">${foreignText(view.title)}</p>`}
${view.description !== null && html`<p class="description">${foreignLines(view.description)}</p>`}`;
}

/** Amount, fee and total if the payer pays the fee, else nothing. */
export function feeLines(t: Translate, payment: Pick<CheckoutView, 'amountMinor' | 'feeMinor' | 'totalMinor'>): Html {
  if (payment.feeMinor === 0n) return html``;
  return html`<dl class="lines">
<div><dt>${t('amount')}</dt><dd>${amountText(payment.amountMinor)}</dd></div>
<div><dt>${t('fee')}</dt><dd>${amountText(payment.feeMinor)}</dd></div>
<div class="total"><dt>${t('total')}</dt><dd>${amountText(payment.totalMinor)}</dd></div>
</dl>`;
}

function timeLeft({ view: { expiresAt }, now, language }: CheckoutPageModel): Html {
  const leftMs = Math.max(0, expiresAt.getTime() - now.getTime());
  const time = html`<time datetime="${expiresAt.toISOString()}">${formatTimeFrom(expiresAt, now, language)}</time>`;
  const left = html`<span data-left-ms="${leftMs}">${formatDuration(leftMs, language)}</span>`;
  return html`<p class="until"><span>${language.t('pay-by', { time })}</span> <span>${language.t('time-left', { left })}</span></p>`;
}
