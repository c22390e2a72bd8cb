import { html, type Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { PageContent } from '../../server/src/pages/document.ts';
import { icon, networkMark } from '../../server/src/pages/icons.ts';
import { layout } from '../../server/src/pages/layout.ts';
import { foreignText, linkable } from '../../server/src/pages/page-text.ts';
import type { Prompt } from '../prompt.ts';
import { codeAttemptsMax } from '../session.ts';
import { promptForm, promptStatus } from './prompt-card.ts';

/** The page behind a launch link, in place of the network's own app. */
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
${prompt.code === null ? promptStatus(prompt) : codeForm(prompt, { path, proof: formProof })}
${prompt.status !== 'open' && backLink(prompt)}
${promptForm(prompt, { path, proof: formProof })}
</section>
</main>`),
  };
}

/** Wave sends no codes; the number that asks for one is asked here, in the app's place. */
function codeForm({ codeAttemptsLeft }: Prompt, { path, proof }: { path: string; proof: Html }): Html {
  const wasWrong = codeAttemptsLeft < codeAttemptsMax;
  const tries = codeAttemptsLeft === 1 ? 'One try is left' : `${codeAttemptsLeft} tries are left`;
  return html`<form method="post" action="${path}">
${proof}
<div class="code">
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 \\-]*" maxlength="12" required autofocus${
    wasWrong && html` aria-invalid="true"`
  } aria-describedby="${wasWrong && 'code-error '}code-hint">
${wasWrong && html`<p class="error" id="code-error">${icon('warning')}The code is incorrect. ${tries}.</p>`}
<p class="hint" id="code-hint">It was sent to the simulated phone.</p>
</div>
<button class="button" name="action" value="enter_code">Approve</button>
</form>`;
}

function backLink({ returnUrl }: Prompt): Html {
  const target = linkable(returnUrl);
  if (target === null) return html``;
  return html`<p><a class="button" href="${target}">${icon('back')}Back to the payment page</a></p>`;
}
