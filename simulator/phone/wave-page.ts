import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { Prompt } from '../prompt.ts';
import type { PageContent } from '../../server/src/pages/document.ts';
import { icon, networkMark } from '../../server/src/pages/icons.ts';
import { foreignText, linkable } from '../../server/src/pages/page-text.ts';
import { layout } from '../../server/src/pages/layout.ts';
import { promptForm, promptStatus } from './prompt-card.ts';

/** What stands in for the network's own app behind its launch link. */
export function wavePage(launch: { prompt: Prompt; path: string; formProof: Html }): PageContent {
  const { prompt, path, formProof } = launch;
  return {
    title: `Simulated ${prompt.networkName}: ${formatAmount(prompt.amountMinor)}`,
    refreshSeconds: null,
    body: layout(html`<header class="ribbon"><p><b>Simulated ${prompt.networkName}</b>: no real money moves</p></header>
<main class="card narrow launch prompt-${prompt.status}">
<section class="step" aria-labelledby="step">
${networkMark(prompt.network, prompt.networkName)}
<h1 id="step">${prompt.status === 'open' ? 'Pay with' : ''} ${foreignText(prompt.networkName)}</h1>
<p class="amount">${formatAmount(prompt.amountMinor)}</p>
<p class="what">${foreignText(prompt.description)}</p>
${promptStatus(prompt)}
${prompt.status !== 'open' && backLink(prompt)}
${promptForm(prompt, { path, proof: formProof })}
</section>
</main>`),
  };
}

function backLink({ returnUrl }: Prompt): Html {
  const target = linkable(returnUrl);
  if (target === null) return html``;
  return html`<p><a class="button" href="${target}">${icon('back')}Back to the payment page</a></p>`;
}
