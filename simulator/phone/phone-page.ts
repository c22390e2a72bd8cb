import { createHash } from 'node:crypto';
import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';
import type { Arrival, PhoneFloat } from '../payouts/arrival.ts';
import type { Prompt } from '../prompt.ts';
import type { PageContent } from '../../server/src/pages/document.ts';
import { icon } from '../../server/src/pages/icons.ts';
import { layout } from '../../server/src/pages/layout.ts';
import { arrivalCard } from './arrival-card.ts';
import { floatCard } from './float-card.ts';
import { formatNumber } from '../../server/src/pages/page-text.ts';
import { promptCard } from './prompt-card.ts';
import { scenarioHints } from './scenario-hints.ts';

export interface Phone {
  number: string;
  prompts: readonly Prompt[];
  arrivals: readonly Arrival[];
  floats: readonly PhoneFloat[];
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
    body: layout(html`<header class="ribbon"><p><b>Simulated phone</b>: no real money moves</p></header>
${phoneMain(phone)}
<p class="unseen" role="status" aria-live="polite" id="news"></p>`),
  };
}

/** The part that the page's script replaces when something has changed. */
export function phoneMain(phone: Phone): Html {
  const { number, path, floats } = phone;
  const form = { path, proof: phone.formProof };
  const cards = cardsOf(phone, form);
  const floatCardsIn = (state: PhoneFloat['state']): Html[] =>
    floats.filter((float) => float.state === state).map((float) => floatCard(float, form));
  return html`<main class="card handset" data-state="${stateOf(phone)}" data-page="${path}">
<header class="bar">${icon('phone')}<h1>Simulated phone of <span class="masked">${formatNumber(number)}</span></h1></header>
<div class="screen">
${floatCardsIn('empty')}
${cards}
${floatCardsIn('filled')}
${floats.length === 0 && cards.length === 0 && emptyScreen(number)}
</div>
<footer><a href="${phone.otherNumberPath}">Take another phone</a></footer>
</main>`;
}

/** What is asked and what arrived, newest first. */
function cardsOf({ prompts, arrivals }: Phone, form: { path: string; proof: Html }): Html[] {
  const cards = [
    ...prompts.map((prompt) => ({ time: prompt.createdAt, card: promptCard(prompt, form) })),
    ...arrivals.map((arrival) => ({ time: arrival.arrivedAt, card: arrivalCard(arrival) })),
  ];
  return cards.toSorted((one, other) => other.time.getTime() - one.time.getTime()).map(({ card }) => card);
}

function emptyScreen(number: string): Html {
  return html`<div class="empty">
<p><b>No payments yet.</b> Start one with the number ${formatNumber(number)}, and what its network asks appears here. So
does money that is paid out to it.</p>
${scenarioHints}
</div>`;
}

/** Changes with whatever the page shows. */
function stateOf({ prompts, arrivals, floats }: Phone): string {
  const shown = [
    ...prompts.map((prompt) => [prompt.sessionId, prompt.status, prompt.awaitsConfirmation, ...prompt.actions]),
    ...arrivals.map((arrival) => [arrival.payoutId, arrival.reversedAt]),
    ...floats.map((float) => [float.account, float.network, float.state]),
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 12);
}
