import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { noteCharge } from '../payments/charge-notes.ts';
import { changeCharge, lockPayment } from '../payments/change-payment.ts';
import type { LockedPayment } from '../payments/change-payment.ts';
import { remainingMinor } from '../payments/charge.ts';
import type { LockedTransfer, Transfer } from '../transfers/transfer.ts';
import type { TransferOwner } from '../transfers/context.ts';
import { bookUndone } from './booking.ts';
import type { RefundContext } from './context.ts';
import { deleteRefundParts, findRefundById, updateRefundPart } from './queries.ts';
import { standingMinor, subAccountOf } from './refund.ts';
import type { Refund, RefundPart } from './refund.ts';

/** The refunds, as those who order transfers; the context is asked for when it is complete. */
export function createRefundOwner(context: () => RefundContext): TransferOwner {
  return {
    lock: async (tx, { merchant, transfer }) => {
      const { refund } = await lockRefund(tx, merchant, transfer);
      return refund.parts.map(subAccountOf).filter((id) => id !== null);
    },
    changed: (tx, change) => endRefund(tx, context(), change),
  };
}

/** The charge's payment is locked before any account, as whoever orders a refund does. */
async function lockRefund(
  tx: Transaction,
  merchant: Merchant,
  { id }: Pick<Transfer, 'id'>,
): Promise<{ refund: Refund; payment: LockedPayment }> {
  const named = await findRefundById(tx, merchant.id, id);
  assert(named, 'a transfer that refunds has its refund');
  const payment = await lockPayment(tx, merchant, { id: named.chargeId, intentId: named.intentId });
  // Read again: whoever held the payment may have changed its refunds.
  const refund = await findRefundById(tx, merchant.id, id);
  assert(refund, 'a refund stays');
  return { refund, payment };
}

/**
 * What becomes of a charge when the transfer that carries its refund ends, or the network brought a part of it back, in the
 * transaction of that. Called with the transfer as it is now; its own money has been booked.
 */
async function endRefund(
  tx: Transaction,
  context: RefundContext,
  { merchant, transfer, before }: LockedTransfer & { before: Transfer },
): Promise<void> {
  const { refund, payment } = await lockRefund(tx, merchant, transfer);
  switch (transfer.status) {
    case 'completed':
      return before.status === 'completed'
        ? takePartBack(tx, context, payment, {
            refund,
            partMinor: transfer.amountReversedMinor - before.amountReversedMinor,
          })
        : complete(tx, context, payment, refund);
    case 'failed':
    case 'cancelled':
      return fail(tx, context, payment, { refund, hadLeft: transfer.networkTransactionId !== null });
    case 'reversed':
      return reopen(tx, context, payment, refund);
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
  const amountRefundedMinor = charge.amountRefundedMinor + standingMinor(refund);
  const isWhole = charge.status === 'completed' && amountRefundedMinor >= remainingMinor(charge);
  const change = isWhole ? ({ status: 'refunded', amountRefundedMinor } as const) : { amountRefundedMinor };
  noteCharge(tx, context, charge, 'refund_completed', `${formatAmount(standingMinor(refund))} went back to the payer.`);
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
async function reopen(tx: Transaction, context: RefundContext, payment: LockedPayment, refund: Refund): Promise<void> {
  const backMinor = standingMinor(refund);
  await bookUndone(tx, context, { charge: payment.charge, refund }, 'with_the_merchant');
  tx.send(deleteRefundParts(refund));
  await countBack(tx, context, payment, { backMinor, what: 'a refund' });
}

/** The network brought a part back: of what each gave that part is its own again, and the rest stays refunded. */
async function takePartBack(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  { refund, partMinor }: { refund: Refund; partMinor: bigint },
): Promise<void> {
  const { back, left } = dividePart(refund.parts, { partMinor, wholeMinor: standingMinor(refund) + partMinor });
  await bookUndone(tx, context, { charge: payment.charge, refund: { ...refund, parts: back } }, 'with_the_merchant');
  for (const part of left) tx.send(updateRefundPart(refund, part));
  await countBack(tx, context, payment, { backMinor: partMinor, what: 'a part of a refund' });
}

/** What of each party's part comes back with `partMinor` of `wholeMinor` bututs, rounded down, and what stays given. */
function dividePart(
  parts: readonly RefundPart[],
  { partMinor, wholeMinor }: { partMinor: bigint; wholeMinor: bigint },
): { back: RefundPart[]; left: RefundPart[] } {
  const back = parts.map(({ account, amountMinor, advancedMinor }) => {
    return {
      account,
      amountMinor: (amountMinor * partMinor) / wholeMinor,
      advancedMinor: (advancedMinor * partMinor) / wholeMinor,
    };
  });
  const left = parts.map((part, index) => ({
    account: part.account,
    amountMinor: part.amountMinor - (back[index]?.amountMinor ?? 0n),
    advancedMinor: part.advancedMinor - (back[index]?.advancedMinor ?? 0n),
  }));
  return { back: back.filter(({ amountMinor }) => amountMinor > 0n), left };
}

/** What came back can be refunded again. */
async function countBack(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  { backMinor, what }: { backMinor: bigint; what: string },
): Promise<void> {
  const { charge } = payment;
  const amountRefundedMinor = charge.amountRefundedMinor - backMinor;
  assert(amountRefundedMinor >= 0n, 'what comes back was counted when it went');
  const isOpenAgain = charge.status === 'refunded' && amountRefundedMinor < remainingMinor(charge);
  const change = isOpenAgain ? ({ status: 'completed', amountRefundedMinor } as const) : { amountRefundedMinor };
  const detail = `The network brought back ${what}: ${formatAmount(backMinor)}, which the payer does not have.`;
  noteCharge(tx, context, charge, 'refund_returned', detail);
  await changeCharge(tx, context, payment, change, 'charge.refunded');
}
