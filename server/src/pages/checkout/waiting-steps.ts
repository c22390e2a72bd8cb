import { html, type Html } from '../../kit/html.ts';
import { icon } from '../icons.ts';
import { amountText, cleanText, foreignText, linkable } from '../page-text.ts';
import { qrCode } from '../qr-code.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { cancelLink, simulatedPhoneLink } from './links.ts';
import { changeForm, nothingArrived, openPromptWarning, shownNumber } from './change-number.ts';

// "Check again" is for browsers that neither keep scripts running nor refresh pages, such as those that render on a server.

/** The attempt is being sent to the network. */
export function startingStep(model: CheckoutPageModel): Html {
  const { t } = model.language;
  return step(model, {
    heading: t('starting'),
    body: html`<p>${t('starting-text', { network: networkName(model) })}</p>`,
  });
}

/** The network did not respond, so whether money moved is unknown: the page claims neither. */
export function checkingStep(model: CheckoutPageModel): Html {
  const network = networkName(model);
  const { t } = model.language;
  return step(model, {
    heading: t('asking', { network }),
    body: html`<p class="notice wait">${icon('clock')}<span>${t('asking-text', { network })}</span></p>
<p>${t('asking-leave')}</p>`,
    beforeChange: model.view.canChange && html`<p class="quiet">${t('change-only-if')}</p>`,
  });
}

/** The payer opens the network's page or app: by link on a phone, by QR code on a wide screen. */
export function openStep(model: CheckoutPageModel): Html {
  const network = networkName(model);
  const { t } = model.language;
  const action = model.view.charge?.nextAction;
  const address = linkable(action?.type === 'open_url' ? action.url : null);
  if (address === null) return checkingStep(model);
  return step(model, {
    heading: t('approve-in', { network }),
    body: html`<p>${t('approve-in-text', { network, amount: amountText(model.view.totalMinor) })}</p>
<div class="ways">
<p><a class="button" href="${address}">${icon('leave')}<span>${t('open-network', { network })}</span></a></p>
<figure class="scan">${qrCode(address, t('scan-code', { network: cleanText(model.view.charge?.networkName ?? '') }))}<figcaption>${t('scan-other', { network })}</figcaption></figure>
</div>`,
    awaitsPayer: true,
  });
}

/** The payer approves on the phone; with `approve_then_confirm`, the payer then confirms on this page. */
export function approveStep(model: CheckoutPageModel, name: 'approve_on_phone' | 'approve_then_confirm'): Html {
  const network = networkName(model);
  const { t } = model.language;
  const confirms = name === 'approve_then_confirm';
  return step(model, {
    heading: t('approve-phone'),
    body: html`${
      model.justConfirmed &&
      html`<p class="notice wait" role="status">${icon('clock')}<span>${t('approved-not-seen', { network })}</span></p>`
    }
<ol class="todo">
<li>${lookAtPhone(model)}</li>
<li>${t('approve-2')}</li>
<li>${t(confirms ? 'approve-3-confirm' : 'approve-3')}</li>
</ol>
${confirms && confirmForm(model)}`,
    awaitsPayer: true,
  });
}

function lookAtPhone(model: CheckoutPageModel): Html {
  const { t } = model.language;
  const number = shownNumber(model);
  const values = { network: networkName(model), amount: amountText(model.view.totalMinor) };
  return number === null ? t('approve-1', values) : t('approve-1-number', { ...values, number });
}

interface StepParts {
  heading: Html;
  body: Html;
  /** Whether the payer must act. */
  awaitsPayer?: boolean;
  /** When to change number or network, where the page has just said not to pay again. */
  beforeChange?: Html | false;
}

function step(model: CheckoutPageModel, parts: StepParts): Html {
  const { heading, body, awaitsPayer = false, beforeChange = false } = parts;
  const { t } = model.language;
  const waiting = awaitsPayer ? t('waiting-for-you') : t('waiting-for', { network: networkName(model) });
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${heading}</h2>
${body}
<p class="waiting"><span class="spinner" aria-hidden="true"></span><span>${waiting}</span> <a href="${model.path}">${t('check-again')}</a></p>
${openPromptWarning(model)}
${awaitsPayer && nothingArrived(model)}
${beforeChange}
${changeForm(model)}
${awaitsPayer && simulatedPhoneLink(model)}
${cancelLink(model)}
</section>`;
}

function confirmForm({ path, formProof, language: { t } }: CheckoutPageModel): Html {
  return html`<form method="post" action="${path}/confirm">
${formProof}
<button class="button">${t('approved')}</button>
</form>`;
}

/** The network of the attempt. */
export function networkName({ view }: CheckoutPageModel): Html {
  return foreignText(view.charge?.networkName ?? '');
}
