import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { bigAmount, feeLines } from '../checkout/summary.ts';
import type { PageContent } from '../document.ts';
import { fieldError, generalErrors } from '../form-errors.ts';
import { icon } from '../icons.ts';
import type { IconName } from '../icons.ts';
import { cleanText, foreignText } from '../page-text.ts';
import { layout, messagePage, testRibbon } from '../layout.ts';

/** The model of a link's or counter's page, before a payment exists. */
export interface CollectPageModel {
  merchantName: string;
  testMode: boolean;
  /** `/link/<token>` or `/pos/<code>-<check>`, without a host. */
  path: string;
  formProof: Html;
  /** The counter's name or the link's title. */
  heading: string;
  kind: 'link' | 'counter';
  description: string | null;
  /** Null lets the payer enter it. */
  amountMinor: bigint | null;
  /** What the payer pays on top of `amountMinor`; 0 if the business pays the fee. */
  feeMinor: bigint;
  minAmountMinor: bigint | null;
  customFields: readonly string[];
  /** The errors and values of the form just sent. */
  refused: RefusedCollect | null;
}

export interface RefusedCollect {
  amount: string;
  answers: readonly string[];
  errors: readonly { field: string | null; message: string }[];
  /** Set if the form was valid, but too many payments were started here. */
  retryAfterSeconds?: number | undefined;
}

/** Names merchant and counter before the payer types anything, so that a sticker over the real QR code is noticed. */
export function collectPage(model: CollectPageModel): PageContent {
  const { merchantName, testMode, path, formProof, refused } = model;
  return {
    title: `Pay ${cleanText(merchantName)}: ${cleanText(model.heading)}`,
    refreshSeconds: null,
    body: layout(html`${testMode && testRibbon}
<main class="card narrow collect">
<section class="step" aria-labelledby="step">
<h1 id="step">Pay ${foreignText(merchantName)}</h1>
${targetHeading(model)}
${model.description !== null && html`<p class="description">${foreignText(model.description)}</p>`}
${generalErrors(refused?.errors)}
<form method="post" action="${path}">
${formProof}
${model.amountMinor === null ? amountField(model) : fixedAmount(model.amountMinor, model.feeMinor)}
${model.customFields.map((label, index) => answerField(label, index, refused))}
<button class="button">${model.amountMinor === null ? 'Go on' : html`Pay ${formatAmount(model.amountMinor + model.feeMinor)}`}</button>
</form>
<p class="hint centre">You choose how to pay on the next page.</p>
</section>
</main>`),
  };
}

function targetHeading({ kind, heading }: CollectPageModel): Html {
  if (kind === 'link') return html`<p class="purpose">${foreignText(heading)}</p>`;
  return html`<p class="counter">${icon('shop')}<span>Counter <b>${foreignText(heading)}</b></span></p>`;
}

/** Made for thumbs: one large field with the numeric keyboard. */
function amountField({ minAmountMinor, refused }: CollectPageModel): Html {
  const error = errorOf(refused, 'amount');
  return html`<div>
<label for="amount">Amount</label>
<div class="money"><span aria-hidden="true">D</span><input id="amount" name="amount" type="text" inputmode="decimal" autocomplete="off" maxlength="20" required value="${
    refused?.amount
  }"${error && html` aria-invalid="true"`} aria-describedby="${error && 'amount-error '}amount-hint" autofocus></div>
${error && fieldError('amount', error)}
<p class="hint" id="amount-hint">${
    minAmountMinor === null ? 'In dalasi, for example 450.' : html`In dalasi, at least ${formatAmount(minAmountMinor)}.`
  }</p>
</div>`;
}

/** The form carries the amount, so that nobody unknowingly pays an amount that the shop has changed meanwhile. */
function fixedAmount(amountMinor: bigint, feeMinor: bigint): Html {
  const totalMinor = amountMinor + feeMinor;
  const plain = formatAmount(amountMinor, { style: 'plain' });
  return html`${bigAmount(totalMinor)}${feeLines({ amountMinor, feeMinor, totalMinor })}<input type="hidden" name="amount" value="${plain}">`;
}

function answerField(label: string, index: number, refused: RefusedCollect | null): Html {
  const name = `field_${index}`;
  const error = errorOf(refused, `custom_fields.${index}`);
  return html`<div>
<label for="${name}">${foreignText(label)}</label>
<input id="${name}" name="${name}" type="text" maxlength="200" value="${refused?.answers[index]}"${
    error && html` aria-invalid="true" aria-describedby="${name}-error"`
  }>
${error && fieldError(name, error)}
</div>`;
}

function errorOf(refused: RefusedCollect | null, field: string): string | undefined {
  return refused?.errors.find((error) => error.field === field)?.message;
}

/** For a code without its check, which may be mistyped: the payer confirms merchant and counter. */
export function confirmCounterPage(model: CollectPageModel): PageContent {
  const { merchantName, heading, path, testMode } = model;
  return {
    title: `Is this ${cleanText(merchantName)}?`,
    refreshSeconds: null,
    body: layout(html`${testMode && testRibbon}
<main class="card narrow collect">
<section class="step" aria-labelledby="step">
<h1 id="step">Is this where you are?</h1>
<p class="counter">${icon('shop')}<span><b>${foreignText(merchantName)}</b><br>Counter <b>${foreignText(heading)}</b></span></p>
<p>The code was typed without the four characters after it. Continue only if the shop and the counter are right.</p>
<a class="button" href="${path}?counter=right">Yes, that is right</a>
<p class="hint centre">If it is not, ask the staff. Nothing is paid yet.</p>
</section>
</main>`),
  };
}

interface ClosedPage {
  title: string;
  text: string;
  merchantName: string;
  icon: IconName;
}

/** A link or counter that accepts no payments, and why. */
export function closedPage({ title, text, merchantName, icon: iconName }: ClosedPage): PageContent {
  return messagePage({ heading: title, icon: iconName, body: html`<p>${foreignText(merchantName)}: ${text}</p>` });
}

/** For a merchant whose environment has no connected network. */
export function notConnectedPage(merchantName: string): PageContent {
  const text =
    'this shop cannot take mobile money here yet. Nothing was paid here. Ask the shop for another way to pay.';
  return closedPage({ title: 'This cannot be paid yet', text, merchantName, icon: 'clock' });
}
