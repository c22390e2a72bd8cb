import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { networkName } from '../../networks/known-networks.ts';
import type { PayoutRow } from '../../settlement/create-payout.ts';
import { shownTime, stateMark } from '../../portal/patterns/texts.ts';
import { transferState } from '../../portal/records/transfer-state.ts';
import type { Visit } from '../visit.ts';
import { destinationText } from './read-sub-account.ts';

/** The newest payouts of a sub-account. */
export function payoutsPanel({ base, now }: Visit, payouts: readonly PayoutRow[]): Html {
  if (payouts.length === 0) {
    return html`<section class="panel"><h2>Payouts</h2><p class="hint">It has not been paid out yet.</p></section>`;
  }
  return html`<section class="panel"><h2>Newest payouts</h2>
<table class="list"><caption class="unseen">Newest payouts</caption>
<thead><tr><th scope="col">To</th><th scope="col" class="wide">Time</th><th scope="col" class="wide">State</th>
<th scope="col" class="number">Amount</th></tr></thead>
<tbody>${payouts.map((payout) => {
    const { id, network, accountNumber: number, createdAt, amountMinor } = payout;
    const mark = stateMark(transferState(payout, networkName(network)));
    return html`<tr><td><a href="${base}/transfers/${id}"><span class="first">${destinationText({ network, number })}</span>
<span class="second phone">${shownTime(createdAt, now)}</span></a></td>
<td class="wide">${shownTime(createdAt, now)}</td><td class="wide">${mark}</td>
<td class="number"><span class="first">${formatAmount(amountMinor)}</span><span class="second phone">${mark}</span></td></tr>`;
  })}</tbody></table></section>`;
}
