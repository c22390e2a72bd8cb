import { html } from '../../server/src/kit/html.ts';
import type { Html } from '../../server/src/kit/html.ts';
import { formatAmount } from '../../server/src/kit/money.ts';
import type { Arrival } from '../payouts/arrival.ts';
import { networkMark } from '../../server/src/pages/icons.ts';
import { foreignText, formatTime } from '../../server/src/pages/page-text.ts';

/** Money that arrived on the simulated phone. There is nothing to tap: a payee approves nothing. */
export function arrivalCard(arrival: Arrival): Html {
  const id = `arrival-${arrival.payoutId}`;
  const { network, networkName, arrivedAt, reversedAt } = arrival;
  return html`<article class="prompt arrival${reversedAt !== null && ' arrival-reversed'}" aria-labelledby="${id}">
<header>${networkMark(network, networkName)}<h2 id="${id}">${foreignText(networkName)}</h2><time datetime="${arrivedAt.toISOString()}">${formatTime(arrivedAt)}</time></header>
<p class="ask">You received <b>${formatAmount(arrival.amountMinor)}</b></p>
<p class="what">From ${foreignText(arrival.description)}</p>
<p class="news">${arrivalStatus(arrival)}</p>
</article>`;
}

function arrivalStatus({ transactionId, reversedAt }: Arrival): Html {
  if (reversedAt === null) return html`Transaction ${transactionId}`;
  return html`Taken back by the network: <time datetime="${reversedAt.toISOString()}">${formatTime(reversedAt)}</time>`;
}
