import { html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { PageContent } from '../document.ts';
import { cleanText } from '../page-text.ts';
import { layout, testRibbon } from '../layout.ts';
import type { CheckoutPageModel } from './page-model.ts';
import { hasOpenAttempt } from './step.ts';
import { summary } from './summary.ts';

/** The question before a payment is called off; a link alone must not do it, because links are followed unasked. */
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
