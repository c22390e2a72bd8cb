import { createHash } from 'node:crypto';
import { html, type Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { Arrival, PhoneFloat } from '../payouts/arrival.ts';
import type { Prompt } from '../prompt.ts';
import type { PageContent } from '../../server/src/pages/document.ts';
import { icon, networkMark } from '../../server/src/pages/icons.ts';
import { layout } from '../../server/src/pages/layout.ts';
import { foreignText, formatNumber, formatTime } from '../../server/src/pages/page-text.ts';
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

// Without JavaScript; with it the page polls every two seconds.
const refreshSeconds = 4;

export function phonePage(phone: Phone): PageContent {
  return {
    title: `Simulated phone of ${formatNumber(phone.number)}`,
    refreshSeconds,
    body: layout(html`<header class="ribbon"><p><b>Simulated phone</b>: no real money moves</p></header>
${phoneMain(phone)}
<p class="unseen" role="status" aria-live="polite" id="status"></p>`),
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
<footer><a href="${phone.otherNumberPath}">Open another phone</a></footer>
</main>`;
}

/** Prompts and arrivals, newest first. */
function cardsOf({ prompts, arrivals }: Phone, form: { path: string; proof: Html }): Html[] {
  const cards = [
    ...prompts.map((prompt) => ({ time: prompt.createdAt, card: promptCard(prompt, form) })),
    ...arrivals.map((arrival) => ({ time: arrival.arrivedAt, card: arrivalCard(arrival) })),
  ];
  return cards.toSorted((one, other) => other.time.getTime() - one.time.getTime()).map(({ card }) => card);
}

function emptyScreen(number: string): Html {
  return html`<div class="empty">
<p><b>No payments yet.</b> Start one with the number ${formatNumber(number)}, and its prompt appears here. Payouts to the
number appear here too.</p>
${scenarioHints}
</div>`;
}

/** A fingerprint of what the page shows. */
function stateOf({ prompts, arrivals, floats }: Phone): string {
  const shown = [
    ...prompts.map((prompt) => [prompt.sessionId, prompt.status, prompt.awaitsConfirmation, ...prompt.actions]),
    ...arrivals.map((arrival) => [arrival.payoutId, arrival.reversedAt]),
    ...floats.map((float) => [float.account, float.network, float.state]),
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 12);
}

/** Money that arrived on the simulated phone. It has no buttons: a payee approves nothing. */
function arrivalCard(arrival: Arrival): Html {
  const id = `arrival-${arrival.payoutId}`;
  const { network, networkName, arrivedAt, reversedAt } = arrival;
  return html`<article class="prompt arrival${reversedAt !== null && ' arrival-reversed'}" aria-labelledby="${id}">
<header>${networkMark(network, networkName)}<h2 id="${id}">${foreignText(networkName)}</h2><time datetime="${arrivedAt.toISOString()}">${formatTime(arrivedAt)}</time></header>
<p class="ask">You received <b>${formatAmount(arrival.amountMinor)}</b></p>
<p class="what">From ${foreignText(arrival.description)}</p>
<p class="status">${arrivalStatus(arrival)}</p>
</article>`;
}

function arrivalStatus({ transactionId, reversedAt }: Arrival): Html {
  if (reversedAt === null) return html`Transaction ${transactionId}`;
  return html`Reversed by the network: <time datetime="${reversedAt.toISOString()}">${formatTime(reversedAt)}</time>`;
}

const floatTexts = {
  empty: {
    title: 'The operator’s float is empty',
    what: 'Payouts to this number wait until the float is filled.',
    action: 'fill_float',
    button: 'Fill the float',
    style: 'button',
  },
  filled: {
    title: 'The operator’s float is filled',
    what: 'Payouts to this number are sent again.',
    action: 'empty_float',
    button: 'Empty the float',
    style: 'link',
  },
} as const;

/** The operator's float at the network for this number, which a real phone would not show. */
function floatCard(float: PhoneFloat, form: { path: string; proof: Html }): Html {
  const id = `float-${float.account}-${float.network}`;
  const { title, what, action, button, style } = floatTexts[float.state];
  return html`<article class="prompt float-${float.state}" aria-labelledby="${id}">
<header>${networkMark(float.network, float.networkName)}<h2 id="${id}">${foreignText(float.networkName)}</h2><time datetime="${float.changedAt.toISOString()}">${formatTime(float.changedAt)}</time></header>
<p class="ask">${title}</p>
<p class="what">${what}</p>
<form method="post" action="${form.path}">
${form.proof}
<input type="hidden" name="account" value="${float.account}">
<input type="hidden" name="network" value="${float.network}">
<button class="${style}" name="action" value="${action}">${button}</button>
</form>
</article>`;
}

/** Asks for the number of the phone. A form by GET, so that the phone's URL can be bookmarked and shared. */
export function numberFormPage(form: { refusedNumber: string | null; key: string | null }): PageContent {
  const refused = form.refusedNumber !== null;
  return {
    title: 'Simulated phone',
    refreshSeconds: null,
    body: layout(html`<header class="ribbon"><p><b>Simulated phone</b>: no real money moves</p></header>
<main class="card narrow">
<section class="step" aria-labelledby="step">
<h1 id="step">Whose phone?</h1>
<p>In test mode this page is the payer’s phone: you approve payments here, and payouts arrive here. Enter the number that you typed on the payment page or sent money to.</p>
<form action="/simulator/phone">
${form.key !== null && html`<input type="hidden" name="key" value="${form.key}">`}
<div>
<label for="number">Number</label>
<input id="number" name="number" type="tel" inputmode="tel" autocomplete="off" maxlength="30" required value="${form.refusedNumber}"${
      refused && html` aria-invalid="true"`
    } aria-describedby="${refused && 'number-error '}number-hint" autofocus>
${
  refused &&
  html`<p class="error" id="number-error">${icon('warning')}This is not a phone number. Enter 7 or 9 digits, like 700 2345.</p>`
}
<p class="hint" id="number-hint">In any usual form, like 700 2345 or +220 87 700 2345.</p>
</div>
<button class="button">${icon('phone')}Open the phone</button>
</form>
${scenarioHints}
</section>
</main>`),
  };
}
