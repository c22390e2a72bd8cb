import { html, type Html } from '../../kit/html.ts';
import { maskPhoneNumber } from '../../kit/phone-number.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { Charge } from '../../payments/charge.ts';
import { networkName } from '../../networks/known-networks.ts';
import { shownTime } from '../patterns/texts.ts';

/** “Try 1 07:31 Afrimoney .... 0001: The payer declined.”, and by which ids it is found here and at the network. */
export function attemptList({ now }: { now: Date }, attempts: readonly Charge[]): Html {
  if (attempts.length === 0) return html`<p>Nobody has tried to pay it yet.</p>`;
  return html`<ol class="timeline plain">${attempts.map((attempt) => {
    const name = networkName(attempt.network);
    return html`<li>${shownTime(attempt.createdAt, now)}
<div><strong>Try ${attempt.attempt}</strong> ${name} ${maskPhoneNumber(attempt.accountNumber ?? '')}: ${attemptText(attempt, name)}</div>
<div class="hint">${attempt.transactionReference}</div>
<div class="hint">At ${name}: <code>${attempt.reference}</code>${
      attempt.networkTransactionId !== null && html`, transaction <code>${attempt.networkTransactionId}</code>`
    }</div></li>`;
  })}</ol>`;
}

function attemptText(
  { status, review, failureReason, abandonedAt, receivedDirectly }: Charge,
  network: string,
): Html | string {
  if (review !== null) return 'Money came and is being checked.';
  switch (status) {
    case 'completed':
    case 'refunded':
      return `${network} says paid.`;
    case 'reversed':
      return receivedDirectly ? 'Taken back: the statement contradicts its receipt.' : `${network} took it back.`;
    case 'cancelled':
      return abandonedAt === null ? 'Cancelled.' : 'The payer left it.';
    case 'failed':
      return failureReason === null ? 'Failed.' : foreignText(failureReason);
    case 'pending':
      return abandonedAt === null ? `Waiting for ${network}.` : 'The payer left it; its outcome is still open.';
  }
}
