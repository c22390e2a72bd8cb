import { addMs, dayMs } from '../../kit/clock.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { networkName } from '../../networks/known-networks.ts';
import { listPaymentRows, payerMinor, type FoundPayment } from '../../payments/find-payment.ts';
import { stateMark } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import { shownSince } from '../payments/visible-payment.ts';
import type { Visit } from '../visit.ts';

/** More than fit on a tablet, so that an hour without a connection is there; the list of payments has the rest. */
export const shownMax = 20;
// A payment may be paid long after it was made, so the newest to be paid are among these.
const readMax = 100;
const codeLength = 4;

export interface Arrival {
  payment: FoundPayment;
  paidAt: Date;
}

/** What was paid at a counter today or within the last hour, newest first. */
export async function readArrivals(
  { money, merchant, now }: Pick<Visit, 'merchant' | 'now'> & { money: Pick<Visit['money'], 'db' | 'lists'> },
  terminalId: string,
): Promise<Arrival[]> {
  const filter = { status: 'successful', terminalIds: [terminalId], from: addMs(now, -dayMs), now } as const;
  const payments = await listPaymentRows(money, merchant.id, { limit: readMax, offset: 0, before: null }, filter);
  const since = shownSince({ now });
  return payments
    .map((payment) => ({ payment, paidAt: payment.charge?.paidAt ?? payment.intent.updatedAt }))
    .filter(({ paidAt }) => paidAt >= since)
    .toSorted((one, other) => other.paidAt.getTime() - one.paidAt.getTime())
    .slice(0, shownMax);
}

/** The same as long as the arrivals are drawn the same. */
export function arrivalsVersion(arrivals: readonly Arrival[]): string {
  return arrivals.map(({ payment: { intent, charge } }) => `${intent.id} ${Number(charge?.updatedAt ?? 0)}`).join();
}

/** The newest large, to be read at arm's length. No total: payers see the screen. */
export function drawArrivals({ now }: Visit, arrivals: readonly Arrival[]): Html {
  const [newest, ...others] = arrivals;
  if (!newest) return html`<p class="waiting">Payments at this counter appear here.</p>`;
  const stateOf = ({ payment }: Arrival) => stateMark(paymentState(payment, { now }));
  const { charge } = newest.payment;
  const payer = charge && `${networkName(charge.network)} ${maskPhoneNumber(charge.accountNumber ?? '')}`;
  return html`<section class="newest" data-payment="${newest.payment.intent.id}">
<p class="large">${formatAmount(payerMinor(newest.payment))}</p><p class="code">${codeOf(newest.payment)}</p>
<p>${stateOf(newest)} ${timeOf(newest)} <span data-age-ms="${now.getTime() - newest.paidAt.getTime()}"></span> <bdi>${payer}</bdi></p></section>
<ol class="earlier">${others.map(
    (arrival) =>
      html`<li data-payment="${arrival.payment.intent.id}">${timeOf(arrival)} <b>${formatAmount(payerMinor(arrival.payment))}</b> <span class="code">${codeOf(arrival.payment)}</span> ${stateOf(arrival)}</li>`,
  )}</ol>`;
}

/** The end of the reference, which the payer's receipt shows too. */
export function codeOf({ charge }: FoundPayment): string {
  return charge?.transactionReference.slice(-codeLength) ?? '';
}

function timeOf({ paidAt }: Arrival): Html {
  return html`<time datetime="${paidAt.toISOString()}">${paidAt.toISOString().slice(11, 16)}</time>`;
}
