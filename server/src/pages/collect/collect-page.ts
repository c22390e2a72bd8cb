import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Language } from '../../languages/languages.ts';
import type { CollectionFee } from '../../merchants/fees.ts';
import type { CheckoutNetwork } from '../../payments/checkout-view.ts';
import { bigAmount, feeLines } from '../checkout/summary.ts';
import type { PageContent } from '../document.ts';
import { fieldError, generalErrors } from '../form-errors.ts';
import { icon, type IconName } from '../icons.ts';
import type { NetworkDetails } from '../logos/network-details.ts';
import { accentOf, shopContact, merchantLogo, type PageAppearance } from '../merchant-appearance.ts';
import { choiceHeading, networkChoice, numberField } from '../network-fields.ts';
import { amountText, cleanText, foreignLines, foreignText } from '../page-text.ts';
import { layout, messagePage, testRibbon } from '../layout.ts';
import { keyboardFor } from './answer-keyboard.ts';
import { feeRuleLine } from './fee-rule.ts';
import { formIdField, labelsField } from './form-id.ts';

/** The model of a link's or counter's page, before a payment exists. */
export interface CollectPageModel {
  language: Language;
  networkDetails: NetworkDetails;
  appearance: PageAppearance;
  /** Our own address, for pictures that chats show. */
  publicUrl: string;
  merchantName: string;
  testMode: boolean;
  /** `/link/<token>` or `/pos/<code>-<check>`, without a host. */
  path: string;
  formProof: Html;
  /** A form that was refused keeps its own. */
  formId: string;
  /** The counter's name or the link's title. */
  heading: string;
  kind: 'link' | 'counter';
  description: string | null;
  /** Null lets the payer enter it. */
  amountMinor: bigint | null;
  /** What the payer pays on top of `amountMinor`; 0 if the business pays the fee. */
  feeMinor: bigint;
  /** The rule of the fee, which the page explains while the amount is open. */
  feeRule: CollectionFee;
  /** Of a link with a fixed amount: the networks that take it, among which the payer chooses here already. */
  networks: readonly CheckoutNetwork[];
  minAmountMinor: bigint | null;
  /** The amounts that can be paid here. */
  bounds: { minMinor: bigint; maxMinor: bigint };
  customFields: readonly string[];
  /** The errors and values of the form just sent. */
  refused: RefusedCollect | null;
}

export interface RefusedCollect {
  amount: string;
  answers: readonly string[];
  network: string;
  accountNumber: string;
  errors: readonly { field: string | null; message: Html }[];
  /** Set if the form was valid, but too many payments were started here. */
  retryAfterSeconds?: number | undefined;
}

/** The query of a counter's page whose payer has confirmed that it is the right one. */
export const confirmedQuery = 'counter=right';

/**
 * Names merchant and counter before the payer types anything, so that a sticker over the real QR code is noticed. In another
 * language it is the same page: `query` is what shows it.
 */
export function collectPage(model: CollectPageModel, query = ''): PageContent {
  const { merchantName, language, path, formProof, formId, refused, amountMinor } = model;
  const { t } = language;
  const title = html`${t('pay-merchant', { merchant: cleanText(merchantName) })} · ${cleanText(model.heading)}`;
  const body = html`<h1 id="step">${merchantLogo(model.appearance)}${t('pay-merchant', { merchant: foreignText(merchantName) })}</h1>
${targetHeading(model)}
${model.description !== null && html`<p class="description">${foreignLines(model.description)}</p>`}
${generalErrors(refused?.errors)}
<form method="post" action="${path}">
${formProof}${formIdField(formId)}${labelsField(model.customFields)}
${amountMinor === null ? amountField(model) : fixedAmount(model, amountMinor)}
${model.customFields.map((label, index) => answerField(model, label, index))}
${choice(model)}
${payButton(model)}
</form>
${model.networks.length === 0 && html`<p class="hint centre">${t('choose-next')}</p>`}`;
  return collectLayout(model, { title, body, query });
}

function choice({ networks, networkDetails: details, language, refused }: CollectPageModel): Html {
  if (networks.length === 0) return html``;
  const fields = {
    language,
    networks,
    details,
    headingId: 'choice',
    chosen: refused?.network ?? null,
    number: refused?.accountNumber ?? '',
    likelyNumber: refused?.accountNumber ?? '',
    lastNumber: null,
    errors: refused?.errors ?? [],
  };
  return html`<h2 id="choice">${choiceHeading(language.t, networks)}</h2>
${networkChoice(fields)}
${numberField(fields)}`;
}

/** Before an amount is known, the rule of the fee stands above the button. */
function payButton({ amountMinor, feeMinor, feeRule, language: { t } }: CollectPageModel): Html {
  if (amountMinor === null)
    return html`${feeRuleLine(t, feeRule)}<button class="button"><span>${t('go-on')}</span></button>`;
  return html`<button class="button"><span>${t('pay-amount', { amount: amountText(amountMinor + feeMinor) })}</span></button>`;
}

// Chats show no more.
const previewLengthMax = 160;

interface CollectBody {
  title: Html;
  body: Html;
  /** What another language carries over of the page's address. */
  query?: string;
}

function collectLayout(model: CollectPageModel, { title, body, query = '' }: CollectBody): PageContent {
  const { language, testMode, publicUrl, appearance } = model;
  const { pageColour, logoPath } = appearance;
  const description = cleanText(model.description ?? model.heading).slice(0, previewLengthMax);
  return {
    title,
    language: language.code,
    accent: pageColour === null ? null : accentOf(pageColour),
    preview: { description, imageUrl: logoPath === null ? null : publicUrl + logoPath },
    refreshSeconds: null,
    body: layout(
      html`${testMode && testRibbon(language)}
<main class="card narrow collect">
<section class="step" aria-labelledby="step">
${body}
</section>
</main>`,
      language,
      query,
    ),
  };
}

function targetHeading({ kind, heading, language: { t } }: CollectPageModel): Html {
  if (kind === 'link') return html`<p class="purpose">${foreignText(heading)}</p>`;
  return html`<p class="counter">${icon('shop')}<span>${t('counter', { counter: html`<b>${foreignText(heading)}</b>` })}</span></p>`;
}

/** Made for thumbs: one large field with the numeric keyboard. */
function amountField({ minAmountMinor, refused, language: { t } }: CollectPageModel): Html {
  const error = errorOf(refused, 'amount');
  return html`<div>
<label for="amount">${t('amount')}</label>
<div class="money"><span aria-hidden="true">D</span><input id="amount" name="amount" type="text" inputmode="decimal" autocomplete="off" maxlength="20" required value="${
    refused?.amount
  }"${error && html` aria-invalid="true"`} aria-describedby="${error && 'amount-error '}amount-hint" autofocus></div>
${error && fieldError('amount', error)}
<p class="hint" id="amount-hint">${
    minAmountMinor === null ? t('amount-example') : t('amount-min', { amount: amountText(minAmountMinor) })
  }</p>
</div>`;
}

/** The form carries amount and total, so that nobody unknowingly pays an amount or a fee that has changed meanwhile. */
function fixedAmount({ feeMinor, language: { t } }: CollectPageModel, amountMinor: bigint): Html {
  const totalMinor = amountMinor + feeMinor;
  return html`${bigAmount(totalMinor)}${feeLines(t, { amountMinor, feeMinor, totalMinor })}${hiddenAmount(
    'amount',
    amountMinor,
  )}${hiddenAmount('total', totalMinor)}`;
}

function hiddenAmount(name: string, minor: bigint): Html {
  return html`<input type="hidden" name="${name}" value="${formatAmount(minor, { style: 'plain' })}">`;
}

function answerField({ refused, language: { t } }: CollectPageModel, label: string, index: number): Html {
  const name = `field_${index}`;
  const error = errorOf(refused, `custom_fields.${index}`);
  return html`<div>
<label for="${name}">${foreignText(label)} <span class="optional">(${t('optional')})</span></label>
<input id="${name}" name="${name}"${keyboardFor(label)} maxlength="200" value="${refused?.answers[index]}"${
    error && html` aria-invalid="true" aria-describedby="${name}-error"`
  }>
${error && fieldError(name, error)}
</div>`;
}

function errorOf(refused: RefusedCollect | null, field: string): Html | undefined {
  return refused?.errors.find((error) => error.field === field)?.message;
}

/** For a code without its check, which may be mistyped: the payer confirms merchant and counter. */
export function confirmCounterPage(model: CollectPageModel): PageContent {
  const { merchantName, heading, path } = model;
  const { t } = model.language;
  const counter = t('counter', { counter: html`<b>${foreignText(heading)}</b>` });
  const body = html`<h1 id="step">${t('is-this-it')}</h1>
<p class="counter">${icon('shop')}<span><b>${foreignText(merchantName)}</b><br>${counter}</span></p>
<p>${t('is-this-it-text')}</p>
<a class="button" href="${path}?${confirmedQuery}">${t('is-this-it-yes')}</a>
<p class="hint centre">${t('is-this-it-no')}</p>`;
  return collectLayout(model, { title: html`${t('is-this-it')} ${cleanText(merchantName)}`, body });
}

/** Why a link or counter takes no payments. `not-connected`: its merchant's environment has no connected network. */
export type ClosedReason = 'link-inactive' | 'link-deleted' | 'counter-closed' | 'counter-deleted' | 'not-connected';

const closedTexts: Record<ClosedReason, { heading: string; text: string; icon: IconName }> = {
  'link-inactive': { heading: 'link-inactive', text: 'link-inactive-text', icon: 'clock' },
  'link-deleted': { heading: 'link-deleted', text: 'link-deleted-text', icon: 'cross' },
  'counter-closed': { heading: 'counter-closed', text: 'counter-closed-text', icon: 'clock' },
  'counter-deleted': { heading: 'counter-closed', text: 'counter-deleted-text', icon: 'cross' },
  'not-connected': { heading: 'not-connected', text: 'not-connected-text', icon: 'clock' },
};

export function closedPage(
  { merchantName, language, appearance }: Pick<CollectPageModel, 'merchantName' | 'language' | 'appearance'>,
  reason: ClosedReason,
): PageContent {
  const { t } = language;
  const { heading, text, icon: iconName } = closedTexts[reason];
  const body = html`<p>${t(text, { merchant: foreignText(merchantName) })}</p>${shopContact(t, appearance)}`;
  return messagePage({ heading: t(heading), icon: iconName, body }, language);
}
