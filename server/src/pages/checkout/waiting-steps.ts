import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CheckoutCharge } from '../../payments/checkout-view.ts';
import { icon } from '../icons.ts';
import { foreignText, linkable } from '../page-text.ts';
import { qrCode } from '../qr-code.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { cancelLink, simulatedPhoneLink } from './links.ts';

// "Check again" is for browsers that neither keep scripts running nor refresh pages, such as those that render on a server.

/** The attempt is being sent to the network. */
export function startingStep(model: CheckoutPageModel): Html {
  return step(model, {
    heading: html`Starting your payment`,
    body: html`<p>We are asking ${networkName(model)} to start it. This takes a few seconds.</p>`,
    waitingFor: html`Asking ${networkName(model)}`,
  });
}

/** The network did not respond, so whether money moved is unknown: the page claims neither. */
export function checkingStep(model: CheckoutPageModel): Html {
  const name = networkName(model);
  return step(model, {
    heading: html`Checking with ${name}`,
    body: html`<p class="notice wait">${icon('clock')}<span><b>We are asking ${name} whether the payment went through. Do not pay
again.</b></span></p>
<p>This can take some minutes. You may leave this page: the shop is told as soon as we know, and this page will show it
when you come back.</p>`,
    waitingFor: html`Waiting for ${name}`,
  });
}

/** The payer opens the network's page or app: by link on a phone, by QR code on a wide screen. */
export function openStep(model: CheckoutPageModel): Html {
  const name = networkName(model);
  const action = model.view.charge?.nextAction;
  const address = linkable(action?.type === 'open_url' ? action.url : null);
  if (address === null) return checkingStep(model);
  return step(model, {
    heading: html`Approve in ${name}`,
    body: html`<p>${name} opens with ${formatAmount(model.view.totalMinor)} filled in. Approve it there, then come back to this
page.</p>
<div class="ways">
<p><a class="button" href="${address}">${icon('leave')}<span>Open ${name}</span></a></p>
<figure class="scan">${qrCode(address, `QR code that opens this payment in ${model.view.charge?.networkName ?? ''}`)}<figcaption>Or scan it with
the phone that has ${name}</figcaption></figure>
</div>`,
    waitingFor: html`Waiting for your approval`,
    awaitsPayer: true,
  });
}

/** The payer approves on the phone; with `approve_then_confirm`, the payer then confirms on this page. */
export function approveStep(model: CheckoutPageModel, name: 'approve_on_phone' | 'approve_then_confirm'): Html {
  const network = networkName(model);
  const confirms = name === 'approve_then_confirm';
  return step(model, {
    heading: html`Approve on your phone`,
    body: html`${
      model.justConfirmed &&
      html`<p class="notice wait" role="status">${icon('clock')}<span>We asked ${network}, and it has not seen your approval yet. If you
have approved, press the button once more in a moment.</span></p>`
    }
<ol class="todo">
<li>Look at your phone${withNumber(model.view.charge)}: ${network} asks there whether to pay ${formatAmount(model.view.totalMinor)}.</li>
<li>Check the amount and enter your PIN on the phone, never on this page.</li>
${confirms ? html`<li>Come back and press the button.</li>` : html`<li>This page goes on by itself.</li>`}
</ol>
${confirms && confirmForm(model)}`,
    waitingFor: html`Waiting for ${network}`,
    awaitsPayer: true,
  });
}

interface StepParts {
  heading: Html;
  body: Html;
  waitingFor: Html;
  /** Whether the payer must act. */
  awaitsPayer?: boolean;
}

function step(model: CheckoutPageModel, parts: StepParts): Html {
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${parts.heading}</h2>
${parts.body}
<p class="waiting"><span class="spinner" aria-hidden="true"></span><span>${parts.waitingFor}</span> <a href="${model.path}">Check again</a></p>
${parts.awaitsPayer === true && simulatedPhoneLink(model)}
${cancelLink(model.path)}
</section>`;
}

function confirmForm({ path, formProof }: CheckoutPageModel): Html {
  return html`<form method="post" action="${path}/confirm">
${formProof}
<button class="button">I have approved</button>
</form>`;
}

function withNumber(charge: CheckoutCharge | null): Html {
  const number = charge?.maskedNumber ?? '';
  return number === '' ? html`` : html` (<span class="masked">${number}</span>)`;
}

function networkName({ view }: CheckoutPageModel): Html {
  return foreignText(view.charge?.networkName ?? 'the network');
}
