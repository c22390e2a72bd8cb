import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import { noteCharge } from '../payments/charge-notes.ts';
import { changeCharge, lockPayment } from '../payments/charge-outcome.ts';
import type { LockedPayment } from '../payments/charge-outcome.ts';
import { keptMinor } from '../payments/charge.ts';
import type { LockedTransfer } from '../transfers/transfer-change.ts';
import { bookUndone } from './booking.ts';
import type { RefundContext } from './context.ts';
import { deleteRefundParts, findRefundById } from './queries.ts';
import type { Refund } from './refund.ts';

/**
 * What becomes of a charge when the transfer that carries its refund ends, in the transaction of that end. Called with
 * the transfer as it is now; its own money has been booked.
 */
export async function endRefund(tx: Transaction, context: RefundContext, ended: LockedTransfer): Promise<void> {
  const { merchant, transfer } = ended;
  const refund = await findRefundById(tx, merchant.id, transfer.id);
  assert(refund, 'a transfer that refunds has its refund');
  const payment = await lockPayment(tx, merchant, { id: refund.chargeId, intentId: refund.intentId });
  switch (transfer.status) {
    case 'completed':
      return complete(tx, context, payment, refund);
    case 'failed':
    case 'cancelled':
      return fail(tx, context, payment, { refund, hadLeft: transfer.networkTransactionId !== null });
    case 'reversed':
      return takeBack(tx, context, payment, refund);
    case 'pending':
      return assert(false, 'a transfer does not end pending');
  }
}

/**
 * The payer has the money. A refund that had failed and was paid after all has no parts any more: the merchant has given
 * all of it, and the shares make up for it with the next one.
 */
async function complete(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  refund: Refund,
): Promise<void> {
  const { charge } = payment;
  const amountRefundedMinor = charge.amountRefundedMinor + refund.amountMinor;
  const isWhole = charge.status === 'completed' && amountRefundedMinor >= keptMinor(charge);
  const change = isWhole ? ({ status: 'refunded', amountRefundedMinor } as const) : { amountRefundedMinor };
  noteCharge(tx, context, charge, 'refund_completed', `${formatAmount(refund.amountMinor)} went back to the payer.`);
  await changeCharge(tx, context, payment, change, 'charge.refunded');
}

/** Nothing went back: each has its own again, and it can be refunded again. */
async function fail(
  tx: Transaction,
  context: RefundContext,
  { charge }: LockedPayment,
  { refund, hadLeft }: { refund: Refund; hadLeft: boolean },
): Promise<void> {
  await bookUndone(tx, context, { charge, refund }, hadLeft ? 'with_the_merchant' : 'where_it_was');
  tx.send(deleteRefundParts(refund));
  const reason = refund.failureReason ?? 'The network did not pay.';
  const detail = `The refund of ${formatAmount(refund.amountMinor)} failed. ${reason}`;
  noteCharge(tx, context, charge, 'refund_failed', detail);
}

/** The network brought the money back that it had given to the payer: it was not refunded after all. */
async function takeBack(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  refund: Refund,
): Promise<void> {
  const { charge } = payment;
  await bookUndone(tx, context, { charge, refund }, 'with_the_merchant');
  tx.send(deleteRefundParts(refund));
  const amountRefundedMinor = charge.amountRefundedMinor - refund.amountMinor;
  assert(amountRefundedMinor >= 0n, 'what comes back was counted when it went');
  const isOpenAgain = charge.status === 'refunded' && amountRefundedMinor < keptMinor(charge);
  const change = isOpenAgain ? ({ status: 'completed', amountRefundedMinor } as const) : { amountRefundedMinor };
  const detail = `The network brought back a refund of ${formatAmount(refund.amountMinor)}: the payer does not have it.`;
  noteCharge(tx, context, charge, 'refund_returned', detail);
  await changeCharge(tx, context, payment, change, 'charge.refunded');
}
