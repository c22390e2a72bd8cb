import { html, type Html } from '../../kit/html.ts';
import { wrongIdsMax } from '../../payments/typed-id.ts';
import type { NextAction } from '../../networks/contract.ts';
import { fieldError } from '../form-errors.ts';
import { icon } from '../icons.ts';
import { shopContact } from '../merchant-appearance.ts';
import { amountText, cleanText, foreignText, formatNumber } from '../page-text.ts';
import { changeForm, openPromptWarning } from './change-number.ts';
import { cancelLink } from './links.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { checkingStep, networkName } from './waiting-steps.ts';

type SendAction = Extract<NextAction, { type: 'send_and_enter_id' }>;

/** The payer sends the money to the shop's own number, then types the transaction id of the network's message. */
export function sendStep(model: CheckoutPageModel): Html {
  const action = model.view.charge?.nextAction;
  return action?.type === 'send_and_enter_id' ? sendForm(model, action) : checkingStep(model);
}

function sendForm(model: CheckoutPageModel, action: SendAction): Html {
  const { t } = model.language;
  const network = networkName(model);
  const amount = amountText(model.view.totalMinor);
  const triesLeft = model.view.charge?.typedId?.triesLeft ?? wrongIdsMax;
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('send-heading', { amount })}</h2>
${triesLeft < wrongIdsMax && notAgain(model)}
<ol class="todo send">
<li>${t('send-1', { network, amount })}
<dl class="lines to">
<div><dt>${t('send-number')}</dt><dd><b class="unbroken">${formatNumber(action.toNumber)}</b>${copyButton(model, action.toNumber, 'send-number')}</dd></div>
<div><dt>${t('send-name')}</dt><dd>${foreignText(action.toName)}</dd></div>
<div><dt>${t('amount')}</dt><dd><b>${amount}</b>${copyButton(model, action.amount, 'amount')}</dd></div>
</dl></li>
<li>${t('send-2', { network })}
${whereItIs(model)}</li>
<li>${t('send-3')}</li>
</ol>
${idForm(model, model.refusedForm?.errors[0]?.message ?? refusedBefore(model, triesLeft))}
${openPromptWarning(model)}
${changeForm(model)}
${cancelLink(model)}
</section>`;
}

/** Another id in the place of the one that is looked for. The money was sent, so nothing here says to send it. */
function correctionForm(model: CheckoutPageModel): Html {
  const { t } = model.language;
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('typed-correct')}</h2>
${notAgain(model)}
${whereItIs(model)}
${idForm(model, model.refusedForm?.errors[0]?.message ?? null)}
<p class="quiet"><a href="${model.path}">${t('check-again')}</a></p>
</section>`;
}

function notAgain({ language: { t } }: CheckoutPageModel): Html {
  return html`<p class="notice wait">${icon('warning')}<span>${t('send-not-again')}</span></p>`;
}

function whereItIs(model: CheckoutPageModel): Html {
  const { t } = model.language;
  return html`<details class="nothing"><summary>${t('send-where')}</summary><p>${t('send-where-text', { network: networkName(model) })}</p></details>`;
}

function idForm({ path, formProof, refusedForm, language: { t } }: CheckoutPageModel, error: Html | null): Html {
  return html`<form method="post" action="${path}/transaction-id">
${formProof}
<div class="field">
<label for="transaction_id">${t('send-field')}</label>
<input id="transaction_id" name="transaction_id" type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="80" value="${refusedForm?.transactionId}"${
    error && html` aria-invalid="true" autofocus`
  } aria-describedby="${error && 'transaction_id-error '}transaction_id-hint">
${error && fieldError('transaction_id', error)}
<p class="hint" id="transaction_id-hint">${t('code-hint')}</p>
</div>
<button class="button">${t('send-button')}</button>
</form>`;
}

/** An id that was accepted turned out to be wrong, while the page was open or closed. */
function refusedBefore({ view: { charge }, language: { t } }: CheckoutPageModel, triesLeft: number): Html | null {
  return charge?.typedId?.value === null && triesLeft < wrongIdsMax ? t('id-wrong', { tries: triesLeft }) : null;
}

/** Hidden without scripts: the number and the amount are text that can be selected. */
function copyButton({ language: { t } }: CheckoutPageModel, text: string, of: string): Html {
  return html` <button type="button" class="link" data-copy="${cleanText(text)}" hidden aria-label="${t('copy')}: ${t(of)}">${t('copy')}</button>`;
}

const waitTexts = { message: 'typed-message', statement: 'typed-statement', check: 'typed-check' } as const;

/** The money may have been sent, so the page says first not to send it again. */
export function awaitingReceiptStep(model: CheckoutPageModel): Html {
  const { t } = model.language;
  if (correctsTypedId(model)) return correctionForm(model);
  const { value = null, waitsFor = null } = model.view.charge?.typedId ?? {};
  const network = networkName(model);
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('typed-heading')}</h2>
<p class="notice wait">${icon('clock')}<span>${t(waitTexts[waitsFor ?? 'message'], { network })}</span></p>
${value !== null && html`<p>${t('typed-id', { id: html`<b>${shownId(model, value)}</b>` })}</p>`}
${mayCorrect(model) && html`<p class="quiet"><a href="${model.path}?correct=1">${t('typed-correct')}</a></p>`}
<p>${t('typed-leave')}</p>
<p class="quiet"><a href="${model.path}">${t('check-again')}</a></p>
${shopContact(t, model.appearance)}
</section>`;
}

/** Whether the page shows the form for another id in the place of the one that is looked for. */
export function correctsTypedId(model: CheckoutPageModel): boolean {
  const isRefused = model.refusedForm?.errors.some(({ field }) => field === 'transaction_id') === true;
  return mayCorrect(model) && (model.correctsId || isRefused);
}

/** While only the message is missing. Another id takes the place of the first one, which uses up a try. */
function mayCorrect({ view: { charge } }: CheckoutPageModel): boolean {
  return charge?.typedId?.waitsFor === 'message' && charge.typedId.triesLeft > 1;
}

/** Whole only for the browser that typed it: whoever has the link could type it for another payment. */
function shownId({ view: { charge }, hasTypedId }: CheckoutPageModel, id: string): Html {
  return foreignText(charge !== null && hasTypedId(charge.id, id) ? id : `.... ${id.slice(-4)}`);
}

/** Too many ids that are not right. Whoever has sent the money is not asked to send it again. */
export function idsRefusedStep(model: CheckoutPageModel): Html {
  const { t } = model.language;
  const { charge, merchantName } = model.view;
  return html`<section class="step" aria-labelledby="step">
<h2 id="step">${t('send-closed')}</h2>
<p class="notice bad" role="alert">${icon('warning')}<span>${t('send-closed-text')}</span></p>
<p>${t('send-closed-next', { merchant: foreignText(merchantName), network: networkName(model) })}</p>
<p>${t('send-closed-reference')} <b class="reference">${charge?.transactionReference}</b></p>
${shopContact(t, model.appearance)}
</section>`;
}
