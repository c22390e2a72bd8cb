import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { bigAmount } from '../checkout/summary.ts';
import type { PageContent } from '../document.ts';
import { icon } from '../icons.ts';
import type { IconName } from '../icons.ts';
import { cleanText, foreignText } from '../page-text.ts';
import { layout, testRibbon } from '../layout.ts';

/** What a link's or a counter's page shows before there is a payment. */
export interface CollectPageModel {
  merchantName: string;
  testMode: boolean;
  /** `/link/<token>` or `/pos/<code>-<check>`, without a host. */
  path: string;
  formProof: Html;
  /** The counter's name, or what the link is for. */
  heading: string;
  kind: 'link' | 'counter';
  description: string | null;
  /** Null lets the payer enter it. */
  amountMinor: bigint | null;
  minAmountMinor: bigint | null;
  customFields: readonly string[];
  /** What was wrong with the form just sent, and what stood in it. */
  refused: RefusedCollect | null;
}

export interface RefusedCollect {
  amount: string;
  answers: readonly string[];
  errors: readonly { field: string | null; message: string }[];
  /** Set where nothing was wrong with the form, but too many paid here just now. */
  retryAfterSeconds?: number | undefined;
}

/** Who is paid and where, before anything is typed: a sticker over another one is noticed here. */
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
${generalErrors(refused)}
<form method="post" action="${path}">
${formProof}
${model.amountMinor === null ? amountField(model) : fixedAmount(model.amountMinor)}
${model.customFields.map((label, index) => answerField(label, index, refused))}
<button class="button">${model.amountMinor === null ? 'Go on' : html`Pay ${formatAmount(model.amountMinor)}`}</button>
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

/** Made for thumbs: one large field, the digits' keyboard, and nothing else that could be hit. */
function amountField({ minAmountMinor, refused }: CollectPageModel): Html {
  const error = errorOf(refused, 'amount');
  return html`<div>
<label for="amount">Amount</label>
<div class="money"><span aria-hidden="true">D</span><input id="amount" name="amount" type="text" inputmode="decimal" autocomplete="off" maxlength="20" required value="${
    refused?.amount
  }"${error && html` aria-invalid="true"`} aria-describedby="${error && 'amount-error '}amount-hint" autofocus></div>
${error && html`<p class="error" id="amount-error">${icon('warning')}${error}</p>`}
<p class="hint" id="amount-hint">${
    minAmountMinor === null ? 'In dalasi, for example 450.' : html`In dalasi, at least ${formatAmount(minAmountMinor)}.`
  }</p>
</div>`;
}

/** Sent with the form, so that a price which the shop changes meanwhile is not paid unseen. */
function fixedAmount(amountMinor: bigint): Html {
  const plain = formatAmount(amountMinor, { style: 'plain' });
  return html`${bigAmount(amountMinor)}<input type="hidden" name="amount" value="${plain}">`;
}

function answerField(label: string, index: number, refused: RefusedCollect | null): Html {
  const name = `field_${index}`;
  const error = errorOf(refused, `custom_fields.${index}`);
  return html`<div>
<label for="${name}">${foreignText(label)}</label>
<input id="${name}" name="${name}" type="text" maxlength="200" value="${refused?.answers[index]}"${
    error && html` aria-invalid="true" aria-describedby="${name}-error"`
  }>
${error && html`<p class="error" id="${name}-error">${icon('warning')}${error}</p>`}
</div>`;
}

function errorOf(refused: RefusedCollect | null, field: string): string | undefined {
  return refused?.errors.find((error) => error.field === field)?.message;
}

function generalErrors(refused: RefusedCollect | null): Html {
  const errors = refused?.errors.filter(({ field }) => field === null) ?? [];
  if (errors.length === 0) return html``;
  return html`<div class="notice bad" role="alert">${icon('warning')}<div>${errors.map(
    ({ message }) => html`<p>${message}</p>`,
  )}</div></div>`;
}

/** The code was typed, or its check was lost: only the payer can say whether this is where they stand. */
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
<p>The code was typed without the four characters behind it. Go on only if the shop and the counter are right.</p>
<a class="button" href="${path}?counter=right">Yes, that is right</a>
<p class="hint centre">If it is not, ask the staff. Nothing is paid yet.</p>
</section>
</main>`),
  };
}

/** A link or a counter that takes nothing, and why. */
export function closedPage(closed: { title: string; text: string; merchantName: string; icon: IconName }): PageContent {
  return {
    title: closed.title,
    refreshSeconds: null,
    body: layout(html`<main class="card narrow">
<section class="step ended" aria-labelledby="step">
<p class="seal calm">${icon(closed.icon)}</p>
<h1 id="step">${closed.title}</h1>
<p>${foreignText(closed.merchantName)}: ${closed.text}</p>
</section>
</main>`),
  };
}

/** The page of a shop whose environment has no network, so that nobody could pay. */
export function notConnectedPage(merchantName: string): PageContent {
  const text =
    'this shop cannot take mobile money here yet. Nothing was paid here. Ask the shop for another way to pay.';
  return closedPage({ title: 'This cannot be paid yet', text, merchantName, icon: 'clock' });
}
