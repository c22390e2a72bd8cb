import { html, type Html } from '../../kit/html.ts';
import { icon } from '../icons.ts';
import { shopContact } from '../merchant-appearance.ts';
import { foreignText, formatNumber } from '../page-text.ts';
import type { OpenPrompt } from '../../payments/checkout-view.ts';
import type { CheckoutPageModel } from './page-model.ts';

// What a payer needs who mistyped the number, or whose phone stays silent.

// Most prompts arrive within seconds; then the payer starts to wonder.
const wonderAfterMs = 45_000;

/** The number of the attempt: whole for the browser that typed it, so that a typing error is seen; else its last digits. */
export function shownNumber(model: CheckoutPageModel): Html | null {
  const { charge } = model.view;
  const number = charge && numberFor(model, charge);
  return number === null || number === '' ? null : html`<b class="unbroken">${number}</b>`;
}

function numberFor({ hasTyped }: CheckoutPageModel, attempt: OpenPrompt): string {
  return hasTyped(attempt.id) ? formatNumber(attempt.number ?? '') : attempt.maskedNumber;
}

/** Leaves this attempt, and no other, without ending the payment. */
export function changeForm({ view, path, formProof, language: { t } }: CheckoutPageModel): Html {
  if (!view.canChange) return html``;
  return html`<form method="post" action="${path}/change">
${formProof}
<input type="hidden" name="attempt" value="${view.charge?.id}">
<button class="button plain">${t('change')}</button>
</form>`;
}

/** What the payer can check when no prompt comes. Hidden at first; the page's script shows it when it is time. */
export function nothingArrived(model: CheckoutPageModel): Html {
  const { charge } = model.view;
  const { t } = model.language;
  if (charge === null || charge.nextAction?.type === 'open_url') return html``;
  const afterMs = charge.waitingSince.getTime() + wonderAfterMs - model.now.getTime();
  const number = shownNumber(model);
  const dialCode = model.networkDetails.dialCodes.get(charge.networkId);
  return html`<details class="nothing" open${afterMs > 0 && html` hidden data-after-ms="${afterMs}"`}>
<summary>${t('nothing-arrived')}</summary>
<ul>
${number !== null && html`<li>${t('nothing-1', { number })}</li>`}
<li>${t('nothing-2')}</li>
${dialCode !== undefined && html`<li>${t('nothing-dial', { code: dialLink(dialCode) })}</li>`}
${model.view.canChange && html`<li>${t('nothing-3')}</li>`}
</ul>
${shopContact(t, model.appearance)}
</details>`;
}

function dialLink(code: string): Html {
  return html`<a class="unbroken" href="tel:${encodeURIComponent(code)}">${code}</a>`;
}

/** An attempt that was left can still be approved: both would pay. Stands below the heading, where a screen reader reads on. */
export function openPromptWarning(model: CheckoutPageModel): Html {
  const { openPrompts } = model.view;
  const { t } = model.language;
  if (openPrompts.length === 0) return html``;
  const prompts = openPrompts.map(
    (prompt, index) =>
      html`${index > 0 && ', '}${foreignText(prompt.networkName)} <span class="unbroken">${numberFor(model, prompt)}</span>`,
  );
  return html`<p class="notice wait">${icon('warning')}<span>${t('still-open', { prompts: html`${prompts}` })}</span></p>`;
}
