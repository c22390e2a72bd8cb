import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import type { PageContent } from '../document.ts';
import { cleanText } from '../page-text.ts';
import { cancelledStep, expiredStep, failedStep, reviewStep } from './ended-steps.ts';
import { chooseStep, enterCodeStep } from './form-steps.ts';
import { receipt } from './receipt.ts';
import { hasOpenAttempt, isLive, isWaiting, stateName, stepOf } from './step.ts';
import type { StepName } from './step.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { layout, testRibbon } from '../layout.ts';
import { summary } from './summary.ts';
import { approveStep, checkingStep, openStep, startingStep } from './waiting-steps.ts';

// Short enough to feel live, long enough to read the page between two loads.
const refreshSeconds = 5;

export function checkoutPage(model: CheckoutPageModel): PageContent {
  const step = stepOf(model.view);
  const body = html`${model.view.testMode && testRibbon}
${checkoutMain(model)}
<p class="unseen" role="status" aria-live="polite" id="live"></p>`;
  return {
    title: pageTitle(model.view, step),
    body: layout(body),
    refreshSeconds: isWaiting(step) && model.refusedForm === null ? refreshSeconds : null,
  };
}

/** The part that the page's script replaces. Its data attributes are the script's input. */
export function checkoutMain(model: CheckoutPageModel): Html {
  const { view, path } = model;
  const step = stepOf(view);
  const title = pageTitle(view, step);
  const isReceipt = step === 'paid' || step === 'reversed';
  return html`<main class="card${isReceipt ? '' : ' wide'}" data-state="${stateName(view)}" data-title="${title}" data-page="${path}"${
    isLive(view) && html` data-live`
  }>
${isReceipt ? receipt(model, step) : html`${summary(model)}${stepSection(model, step)}`}
</main>`;
}

function stepSection(model: CheckoutPageModel, step: Exclude<StepName, 'paid' | 'reversed'>): Html {
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

const titleWords: Record<StepName, string> = {
  choose: 'Pay',
  starting: 'Starting',
  open_url: 'Waiting for you',
  approve_on_phone: 'Waiting for you',
  approve_then_confirm: 'Waiting for you',
  enter_code: 'Enter the code',
  asking: 'Checking, do not pay again',
  review: 'Under review',
  paid: 'Paid',
  reversed: 'Taken back',
  failed: 'Not paid',
  cancelled: 'Cancelled',
  expired: 'Expired',
};

function pageTitle(view: CheckoutView, step: StepName): string {
  return `${titleWords[step]}: ${formatAmount(view.totalMinor)} to ${cleanText(view.merchantName)}`;
}

/** Asks before a payment is cancelled: cancelling takes a form, because software follows links on its own. */
export function cancelPage(model: CheckoutPageModel): PageContent {
  const { view, path, formProof } = model;
  return {
    title: `Cancel? ${formatAmount(view.totalMinor)} to ${cleanText(view.merchantName)}`,
    refreshSeconds: null,
    body: layout(html`${view.testMode && testRibbon}
<main class="card wide">
${summary(model)}
<section class="step" aria-labelledby="step">
<h2 id="step">Cancel this payment?</h2>
<p>${
      hasOpenAttempt(view)
        ? 'Cancel only if you have not approved it yet. A payment that is already approved still counts.'
        : 'You have not paid yet. After cancelling you need a new payment from the shop.'
    }</p>
<form method="post" action="${path}/cancel">
${formProof}
<button class="button danger">Yes, cancel it</button>
</form>
<p><a class="button plain" href="${path}">No, go on paying</a></p>
</section>
</main>`),
  };
}
