import { html, type Html } from '../../kit/html.ts';
import { fieldError, generalErrors } from '../form-errors.ts';
import { icon } from '../icons.ts';
import { choiceHeading, networkChoice, numberField, type NetworkFields } from '../network-fields.ts';
import { amountText, foreignText, formatNumber } from '../page-text.ts';
import { changeForm, nothingArrived, openPromptWarning, shownNumber } from './change-number.ts';
import { failureText } from './failure-text.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { cancelLink, simulatedPhoneLink } from './links.ts';

/** The choice of network and number; after a refused attempt with the reason above the form. */
export function chooseStep(model: CheckoutPageModel): Html {
  const { view, path, formProof, refusedForm } = model;
  const { t } = model.language;
  if (view.networks.length === 0) return noNetwork(model);
  const fields = networkFields(model);
  return html`<section class="step" aria-labelledby="step">
${hasFailed(view) && refusedForm === null && refusal(model)}
<h2 id="step">${heading(model)}</h2>
${openPromptWarning(model)}
${generalErrors(refusedForm?.errors)}
<form method="post" action="${path}">
${formProof}
${networkChoice(fields)}
${numberField(fields)}
<button class="button"><span>${t('pay-amount', { amount: amountText(view.totalMinor) })}</span></button>
</form>
${cancelLink(model)}
</section>`;
}

function heading({ view, language: { t } }: CheckoutPageModel): Html {
  return hasFailed(view) ? t('try-again') : choiceHeading(t, view.networks);
}

/** An attempt that the payer has left ends as it should. */
function hasFailed({ charge }: CheckoutView): boolean {
  return charge !== null && charge.failureCode !== null && !charge.isAbandoned;
}

function refusal({ view: { charge, attemptsLeft, openPrompts }, language: { t } }: CheckoutPageModel): Html {
  // While an attempt that the payer has left is open, "not paid" is not known.
  const isKnown = openPrompts.length === 0;
  return html`<div class="notice bad" role="alert">${icon('cross')}<div>
<p><b>${charge && failureText(t, charge)}</b></p>
<p>${t(isKnown ? 'tries-left' : 'tries-left-open', { tries: attemptsLeft })}</p>
</div></div>`;
}

function noNetwork(model: CheckoutPageModel): Html {
  const { t } = model.language;
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('no-network')}</h2>
<p>${t('no-network-text')}</p>
<p><a class="button" href="${model.path}">${t('try-again')}</a></p>
${cancelLink(model)}
</section>`;
}

function networkFields(model: CheckoutPageModel): NetworkFields {
  const { view, refusedForm, language } = model;
  const isNumberShown = view.charge !== null && model.hasTyped(view.charge.id);
  return {
    language,
    networks: view.networks,
    details: model.networkDetails,
    headingId: 'step',
    chosen: refusedForm?.network ?? view.charge?.networkId ?? null,
    number: refusedForm ? refusedForm.accountNumber : numberToStartWith(model),
    likelyNumber: refusedForm ? refusedForm.accountNumber : numberToStartWith(model),
    lastNumber: isNumberShown ? null : shownNumber(model),
    errors: refusedForm?.errors ?? [],
  };
}

/** The number of the last attempt, if this browser typed it; before the first one, the number that the merchant knows. */
function numberToStartWith({ view: { charge, customerPhone }, hasTyped }: CheckoutPageModel): string {
  if (charge === null) return customerPhone === null ? '' : formatNumber(customerPhone);
  return hasTyped(charge.id) ? formatNumber(charge.number ?? '') : '';
}

// For a view that does not say how long the code is: the known networks send six digits (docs/networks.md, "How a payer
// approves").
const usualLength = 6;

/** The field for the code that the network sent to the payer. The code is neither stored nor logged. */
export function enterCodeStep(model: CheckoutPageModel): Html {
  const { view, path, formProof } = model;
  const { t } = model.language;
  const action = view.charge?.nextAction;
  const digits = action?.type === 'enter_code' ? action.length : usualLength;
  const network = foreignText(view.charge?.networkName ?? '');
  const number = shownNumber(model);
  const error = model.refusedForm?.errors[0];
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('enter-code')}</h2>
<p>${number === null ? t('code-sent', { network, digits }) : t('code-sent-to', { network, digits, number })}</p>
<form method="post" action="${path}/code">
${formProof}
<div class="code">
<label for="code">${t('code-field')}</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[\\p{Nd} \\-]*" maxlength="${2 * digits}" autofocus${
    error && html` aria-invalid="true"`
  } aria-describedby="${error && 'code-error '}code-hint">
${error && fieldError('code', error.message)}
<p class="hint" id="code-hint">${t('code-hint')}</p>
</div>
<button class="button">${t('confirm-payment')}</button>
</form>
${checkAgain(model)}
${openPromptWarning(model)}
${nothingArrived(model)}
${changeForm(model)}
${simulatedPhoneLink(model)}
${cancelLink(model)}
</section>`;
}

/** Without scripts, this page does not refresh: it has a field. */
function checkAgain({ path, language: { t } }: CheckoutPageModel): Html {
  return html`<noscript><p class="quiet"><a href="${path}">${t('check-again')}</a></p></noscript>`;
}
