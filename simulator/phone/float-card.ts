import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';
import type { PhoneFloat } from '../payouts/arrival.ts';
import { networkMark } from '../../server/src/pages/icons.ts';
import { foreignText, formatTime } from '../../server/src/pages/page-text.ts';

const wordsOf = {
  empty: {
    ask: 'The operator’s float is empty',
    what: 'Payouts to this number wait until there is money to pay them from.',
    action: 'fill_float',
    button: 'Fill the float',
    style: 'button',
  },
  filled: {
    ask: 'The operator’s float is filled',
    what: 'Payouts to this number go out again.',
    action: 'empty_float',
    button: 'Empty the float',
    style: 'link',
  },
} as const;

/** What no phone shows: the operator's money at the network, which has run out for this number. */
export function floatCard(float: PhoneFloat, form: { path: string; proof: Html }): Html {
  const id = `float-${float.account}-${float.network}`;
  const { ask: question, what, action, button, style } = wordsOf[float.state];
  return html`<article class="prompt float-${float.state}" aria-labelledby="${id}">
<header>${networkMark(float.network, float.networkName)}<h2 id="${id}">${foreignText(float.networkName)}</h2><time datetime="${float.changedAt.toISOString()}">${formatTime(float.changedAt)}</time></header>
<p class="ask">${question}</p>
<p class="what">${what}</p>
<form method="post" action="${form.path}">
${form.proof}
<input type="hidden" name="account" value="${float.account}">
<input type="hidden" name="network" value="${float.network}">
<button class="${style}" name="action" value="${action}">${button}</button>
</form>
</article>`;
}
