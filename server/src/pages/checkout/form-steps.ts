import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CheckoutNetwork, CheckoutView } from '../../payments/checkout-view.ts';
import { fieldError, generalErrors } from '../form-errors.ts';
import { icon, networkMark } from '../icons.ts';
import { foreignText } from '../page-text.ts';
import { failureText } from './failure-text.ts';
import type { CheckoutPageModel, RefusedForm } from './page-model.ts';
import { cancelLink, simulatedPhoneLink } from './links.ts';

/** The choice of network and number; after a refused attempt with the reason above the form. */
export function chooseStep(model: CheckoutPageModel): Html {
  const { view, path, formProof, refusedForm } = model;
  if (view.networks.length === 0) return noNetwork(model);
  return html`<section class="step" aria-labelledby="step">
${view.charge?.failureCode && refusedForm === null && refusal(view)}
<h2 id="step">${heading(view)}</h2>
${generalErrors(refusedForm?.errors)}
<form method="post" action="${path}">
${formProof}
${networkChoice(view, refusedForm)}
${numberField(view, refusedForm)}
<button class="button">Pay ${formatAmount(view.totalMinor)}</button>
</form>
${cancelLink(path)}
</section>`;
}

function heading({ charge, networks }: CheckoutView): string {
  if (charge?.failureCode) return networks.length === 1 ? 'Try again' : 'Try again, or choose another network';
  return networks.length === 1 ? 'Pay with mobile money' : 'How do you want to pay?';
}

function refusal({ charge, attemptsLeft }: CheckoutView): Html {
  return html`<div class="notice bad" role="alert">${icon('cross')}<div>
<p><b>${charge?.networkName} did not take this payment.</b> ${charge?.failureCode && failureText(charge.failureCode)}</p>
<p>You have not paid. You have ${attemptsLeft === 1 ? '1 try' : `${attemptsLeft} tries`} left.</p>
</div></div>`;
}

function noNetwork({ path }: CheckoutPageModel): Html {
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">No network is available for this payment</h2>
<p>No mobile-money network accepts this amount at the moment. Try again in a few minutes, or ask the shop for another way to pay.</p>
<p><a class="button" href="${path}">Try again</a></p>
${cancelLink(path)}
</section>`;
}

function networkChoice(view: CheckoutView, refusedForm: RefusedForm | null): Html {
  const chosen = refusedForm?.network ?? view.charge?.networkId ?? null;
  const only = view.networks.length === 1;
  const error = refusedForm?.errors.find((candidate) => candidate.field === 'network');
  return html`<fieldset aria-labelledby="step"${error && html` aria-describedby="network-error"`}>
<div class="networks">
${view.networks.map((network) => networkCard(network, only || network.id === chosen))}
</div>
${error && fieldError('network', error.message)}
</fieldset>`;
}

function networkCard({ id, displayName, numberRequired }: CheckoutNetwork, checked: boolean): Html {
  return html`<div class="network"><input type="radio" name="network" value="${id}" id="network-${id}" required${
    numberRequired ? '' : html` data-no-number`
  }${checked && html` checked`}><label for="network-${id}">${networkMark(id, displayName)}<span>${displayName}</span></label></div>
`;
}

function numberField(view: CheckoutView, refusedForm: RefusedForm | null): Html {
  if (view.networks.every((network) => !network.numberRequired)) return html``;
  const error = refusedForm?.errors.find((candidate) => candidate.field === 'account_number');
  const withoutNumber = view.networks
    .filter((network) => !network.numberRequired)
    .map((network) => network.displayName);
  const lastNumber = view.charge?.maskedNumber ?? '';
  return html`<div class="number">
<label for="number">Your mobile-money number</label>
<input id="number" name="account_number" type="tel" inputmode="tel" autocomplete="tel" maxlength="30" value="${
    refusedForm?.accountNumber
  }" aria-describedby="${error && 'number-error '}number-hint"${error && html` aria-invalid="true" autofocus`}>
${error && fieldError('number', error.message)}
<p class="hint" id="number-hint">${
    lastNumber === ''
      ? 'Like 301 2345 or +220 83 301 2345.'
      : html`Last time: <span class="masked">${lastNumber}</span>.`
  }${withoutNumber.length > 0 && html` Not needed for ${withoutNumber.join(', ')}.`}</p>
</div>`;
}

// For a view that does not say how long the code is: the known networks send six digits (docs/networks.md, "How a payer
// approves").
const usualLength = 6;

/** The field for the code that the network sent to the payer. The code is neither stored nor logged. */
export function enterCodeStep(model: CheckoutPageModel): Html {
  const { view, path, formProof } = model;
  const action = view.charge?.nextAction;
  const length = action?.type === 'enter_code' ? action.length : usualLength;
  const network = foreignText(view.charge?.networkName ?? 'The network');
  const number = view.charge?.maskedNumber ?? '';
  const error = model.refusedForm?.errors[0];
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">Enter the code</h2>
<p>${network} sent a code of ${length} digits${number !== '' && html` to <span class="masked">${number}</span>`}.</p>
<form method="post" action="${path}/code">
${formProof}
<div class="code">
<label for="code">Code from the message</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 \\-]*" maxlength="${2 * length}" autofocus${
    error && html` aria-invalid="true"`
  } aria-describedby="${error && 'code-error '}code-hint">
${error && fieldError('code', error.message)}
<p class="hint" id="code-hint">The code is for this payment only. Never type your wallet PIN here.</p>
</div>
<button class="button">Confirm the payment</button>
</form>
${simulatedPhoneLink(model)}
${cancelLink(path)}
</section>`;
}
