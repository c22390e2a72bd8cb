import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { icon } from '../icons.ts';
import { foreignText } from '../page-text.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { cancelLink, simulatedPhoneLink } from './links.ts';

// Only for a view that does not say how long the code is; the networks known send six digits (docs/networks.md, "How a payer
// approves").
const usualLength = 6;

/** The network sent a code; it goes to the network as typed and is kept nowhere. */
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
${error && html`<p class="error" id="code-error">${icon('warning')}${error.message}</p>`}
<p class="hint" id="code-hint">The code is for this payment only. Never type your wallet PIN here.</p>
</div>
<button class="button">Confirm the payment</button>
</form>
${simulatedPhoneLink(model)}
${cancelLink(path)}
</section>`;
}
