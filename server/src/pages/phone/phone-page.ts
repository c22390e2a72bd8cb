import { createHash } from 'node:crypto';
import { html } from '../../kit/html.ts';
import type { Html } from '../../kit/html.ts';
import type { Prompt } from '../../networks/simulator/prompt.ts';
import type { PageContent } from '../document.ts';
import { icon } from '../icons.ts';
import { shell } from '../shell.ts';
import { formatNumber } from './format-number.ts';
import { promptCard } from './prompt-card.ts';
import { scenarioHints } from './scenario-hints.ts';

export interface Phone {
  number: string;
  prompts: readonly Prompt[];
  path: string;
  otherNumberPath: string;
  formProof: Html;
}

// Without scripts; with them the page asks every two seconds.
const refreshSeconds = 4;

export function phonePage(phone: Phone): PageContent {
  return {
    title: `Simulated phone of ${formatNumber(phone.number)}`,
    refreshSeconds,
    body: shell(html`<header class="ribbon"><p><b>Simulated phone</b>: no real money moves</p></header>
${phoneMain(phone)}
<p class="unseen" role="status" aria-live="polite" id="news"></p>`),
  };
}

/** The part that the page's script replaces when the prompts have changed. */
export function phoneMain(phone: Phone): Html {
  const { number, prompts, path } = phone;
  return html`<main class="card handset" data-state="${stateOf(prompts)}" data-page="${path}">
<header class="bar">${icon('phone')}<h1>Simulated phone of <span class="masked">${formatNumber(number)}</span></h1></header>
<div class="screen">
${prompts.length === 0 && emptyScreen(number)}
${prompts.map((prompt) => promptCard(prompt, { path, proof: phone.formProof }))}
</div>
<footer><a href="${phone.otherNumberPath}">Take another phone</a></footer>
</main>`;
}

function emptyScreen(number: string): Html {
  return html`<div class="empty">
<p><b>No payments yet.</b> Start one with the number ${formatNumber(number)}, and what its network asks appears here.</p>
${scenarioHints}
</div>`;
}

/** Changes with whatever the page shows of the prompts. */
function stateOf(prompts: readonly Prompt[]): string {
  const shown = prompts.map((prompt) => [
    prompt.sessionId,
    prompt.status,
    prompt.awaitsConfirmation,
    ...prompt.actions,
  ]);
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 12);
}
