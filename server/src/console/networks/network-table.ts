import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { NetworkHealth } from '../../reports/network-health.ts';
import type { ConsoleVisit } from '../visit.ts';
import { attemptText, healthPath, payoutState, waitingText } from './health-texts.ts';

/** How each network does, one row for each. */
export function networkTable({ base, now }: ConsoleVisit, networks: readonly NetworkHealth[]): Html {
  return html`<table class="list"><caption class="unseen">Networks</caption>
<thead><tr><th scope="col">Network</th><th scope="col" class="wide">Collects</th><th scope="col">Pays out</th>
<th scope="col" class="wide">Payouts that wait</th><th scope="col" class="number wide">Float</th></tr></thead>
<tbody>${networks.map((health) => {
    const { capabilities, attempts, floatMinor, waiting } = health;
    return html`<tr><td><a href="${base}${healthPath(health)}"><span class="first">${capabilities.displayName}</span></a>
<span class="second">${capabilities.railAccount}</span>
<span class="second phone">${attemptText(attempts)}</span></td>
<td class="wide">${attemptText(attempts)}</td>
<td>${payoutState(health)}${waiting.length > 0 && html`<span class="second phone">${waitingText(waiting, now)}</span>`}
<span class="second phone">Float <span class="unbroken">${formatAmount(floatMinor)}</span></span></td>
<td class="wide">${waitingText(waiting, now)}</td><td class="number wide">${formatAmount(floatMinor)}</td></tr>`;
  })}</tbody></table>`;
}

/** Where no network is connected, as in live until the operator has connected one. */
export function noNetworks({ environment }: ConsoleVisit): Html {
  return html`<section class="empty"><p>No ${environment} network is connected to this server yet.</p>
<p class="hint">Businesses collect and pay out with simulated networks in Test until then; a live payment is refused, and nothing of it is stored.</p></section>`;
}
