import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { PageContent, PagePart } from '../document.ts';
import { accentOf, type Accent } from '../merchant-appearance.ts';
import { cleanText, linkable } from '../page-text.ts';
import { cancelledStep, expiredStep, failedStep, reviewStep } from './ended-steps.ts';
import { chooseStep, enterCodeStep } from './form-steps.ts';
import { receipt } from './receipt.ts';
import {
  hasOpenAttempt,
  isLive,
  isReceipt,
  isWaiting,
  stateName,
  stepOf,
  type ReceiptStep,
  type StepName,
} from './step.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { layout, testRibbon } from '../layout.ts';
import { awaitingReceiptStep, correctsTypedId, idsRefusedStep, sendStep } from './send-step.ts';
import { summary } from './summary.ts';
import { approveStep, checkingStep, openStep, startingStep } from './waiting-steps.ts';

// Short enough to feel live, long enough to read the page between two loads.
const refreshSeconds = 5;
// A receipt changes rarely: when it is refunded or taken back.
const receiptRefreshSeconds = 60;

export function checkoutPage(model: CheckoutPageModel): PageContent {
  const { language, view } = model;
  const step = stepOf(view);
  const body = html`${view.testMode && testRibbon(language)}
${checkoutMain(model)}
<p class="unseen" role="status" aria-live="polite" id="live"></p>`;
  return {
    title: pageTitle(model),
    language: language.code,
    accent: accentFor(model),
    preview: previewOf(model),
    body: layout(body, language, correctsTypedId(model) ? 'correct=1' : ''),
    moreStyle: moreStyleOf(step),
    opensUrl: opensUrl(model),
    refreshSeconds: refreshSecondsOf(model, step),
  };
}

/** For browsers without scripts. A page with a form that was refused keeps what was typed. */
function refreshSecondsOf({ refusedForm, correctsId }: CheckoutPageModel, step: StepName): number | null {
  if (isReceipt(step)) return receiptRefreshSeconds;
  return isWaiting(step) && refusedForm === null && !correctsId ? refreshSeconds : null;
}

function accentFor({ appearance: { pageColour } }: CheckoutPageModel): Accent | null {
  return pageColour === null ? null : accentOf(pageColour);
}

/** Never the payer's number, name or answers: the link travels through chats. */
function previewOf({
  view,
  appearance: { logoPath },
  url,
  path,
}: CheckoutPageModel): NonNullable<PageContent['preview']> {
  const description = cleanText(view.title ?? view.merchantName);
  return { description, imageUrl: logoPath === null ? null : url.slice(0, -path.length) + logoPath };
}

// Enough for the redirect after Pay on a slow network. A page that is opened again later must not leave for the network again.
const opensWithinMs = 30_000;

function opensUrl({ opensNetwork, view: { charge }, now }: CheckoutPageModel): string | null {
  const action = charge?.nextAction;
  if (!opensNetwork || charge === null || action?.type !== 'open_url') return null;
  const isNew = now.getTime() - charge.waitingSince.getTime() < opensWithinMs;
  return isNew ? linkable(action.url) : null;
}

/** What the page's script puts in place of the current part. */
export function checkoutPart(model: CheckoutPageModel): PagePart {
  return { title: pageTitle(model), body: checkoutMain(model), moreStyle: moreStyleOf(stepOf(model.view)) };
}

function moreStyleOf(step: StepName): 'choice' | 'waiting' | 'ended' {
  if (step === 'choose') return 'choice';
  return isWaiting(step) || step === 'enter_code' || step === 'send_and_enter_id' || step === 'ids_refused'
    ? 'waiting'
    : 'ended';
}

/** The part that the page's script replaces. Its data attributes are the script's input. */
function checkoutMain(model: CheckoutPageModel): Html {
  const { view, path } = model;
  const step = stepOf(view);
  const opens = opensUrl(model);
  return html`<main class="card${!isReceipt(step) && ' wide'}" data-state="${stateName(view)}" data-page="${path}"${
    isLive(view) && html` data-live`
  }${isReceipt(step) && html` data-receipt`}${opensNext(model, opens)}>
${isReceipt(step) ? receipt(model, step) : html`${summary(model)}${stepSection(model, step)}`}
</main>`;
}

/** The page's script opens the network's page, or remembers to do so once its address is known. */
function opensNext({ opensNetwork, view }: CheckoutPageModel, url: string | null): Html {
  if (url !== null) return html` data-open="${url}"`;
  return opensNetwork && stepOf(view) === 'starting' ? html` data-opens-next` : html``;
}

function stepSection(model: CheckoutPageModel, step: Exclude<StepName, ReceiptStep>): Html {
  switch (step) {
    case 'choose':
      return chooseStep(model);
    case 'starting':
      return startingStep(model);
    case 'open_url':
      return openStep(model);
    case 'approve_on_phone':
    case 'approve_then_confirm':
      return approveStep(model, step);
    case 'enter_code':
      return enterCodeStep(model);
    case 'send_and_enter_id':
      return sendStep(model);
    case 'awaiting_receipt':
      return awaitingReceiptStep(model);
    case 'ids_refused':
      return idsRefusedStep(model);
    case 'asking':
      return checkingStep(model);
    case 'review':
      return reviewStep(model);
    case 'failed':
      return failedStep(model);
    case 'cancelled':
      return cancelledStep(model);
    case 'expired':
      return expiredStep(model);
  }
}

const stateTexts: Record<StepName, string> = {
  choose: 'state-choose',
  starting: 'state-starting',
  open_url: 'state-waiting',
  approve_on_phone: 'state-waiting',
  approve_then_confirm: 'state-waiting',
  enter_code: 'state-code',
  send_and_enter_id: 'state-waiting',
  awaiting_receipt: 'state-asking',
  ids_refused: 'state-asking',
  asking: 'state-asking',
  review: 'state-review',
  paid: 'state-paid',
  partly_returned: 'state-partly-refunded',
  refunded: 'state-refunded',
  reversed: 'state-reversed',
  failed: 'state-failed',
  cancelled: 'state-cancelled',
  expired: 'state-expired',
};

function pageTitle(model: CheckoutPageModel): Html {
  return tabTitle(model, stateTexts[stepOf(model.view)]);
}

function tabTitle({ view, language: { t } }: CheckoutPageModel, state: string): Html {
  const values = { amount: formatAmount(view.totalMinor), merchant: cleanText(view.merchantName) };
  return t('tab', { state: t(state), ...values });
}

/** Asks before a payment is cancelled: cancelling takes a form, because software follows links on its own. */
export function cancelPage(model: CheckoutPageModel): PageContent {
  const { view, path, formProof, language } = model;
  const { t } = language;
  return {
    title: tabTitle(model, 'cancel-question'),
    language: language.code,
    accent: accentFor(model),
    moreStyle: 'ended',
    refreshSeconds: null,
    body: layout(
      html`${view.testMode && testRibbon(language)}
<main class="card wide">
${summary(model)}
<section class="step" aria-labelledby="step">
<h2 id="step">${t('cancel-question')}</h2>
<p>${t(hasOpenAttempt(view) ? 'cancel-if-open' : 'cancel-nothing-paid')}</p>
<p><a class="button" href="${path}">${t('cancel-no')}</a></p>
<form method="post" action="${path}/cancel">
${formProof}
<button class="button danger">${t('cancel-yes')}</button>
</form>
</section>
</main>`,
      language,
    ),
  };
}
