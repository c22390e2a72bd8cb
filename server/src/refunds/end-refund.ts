import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { findCollecting } from '../networks/registry.ts';
import { enqueueLookUp } from '../payments/apply-response.ts';
import { noteCharge } from '../payments/charge-notes.ts';
import { changeCharge, lockPayment, type LockedPayment } from '../payments/change-payment.ts';
import { remainingMinor, type Charge } from '../payments/charge.ts';
import type { LockedTransfer, Transfer } from '../transfers/transfer.ts';
import type { TransferOwner } from '../transfers/context.ts';
import { bookUndone } from './booking.ts';
import { deleteRefundParts, findRefundById, updateRefundPart } from './queries.ts';
import { netRefundMinor, subAccountOf, type Refund, type RefundContext, type RefundPart } from './refund.ts';

/** The owner of the transfers that send refunds. The context refers to it, so it is read when the first transfer ends. */
export function createRefundOwner(context: () => RefundContext): TransferOwner {
  return {
    lock: async (tx, { merchant, transfer }) => {
      const { refund } = await lockRefund(tx, merchant, transfer);
      return refund.parts.map(subAccountOf).filter((id) => id !== null);
    },
    changed: (tx, change) => endRefund(tx, context(), change),
  };
}

/** Locks the charge's payment before any account, as `createRefund` does. */
async function lockRefund(
  tx: Transaction,
  merchant: Merchant,
  { id }: Pick<Transfer, 'id'>,
): Promise<{ refund: Refund; payment: LockedPayment }> {
  const named = await findRefundById(tx, merchant.id, id);
  assert(named, 'a transfer that refunds has its refund');
  const payment = await lockPayment(tx, merchant, { id: named.chargeId, intentId: named.intentId });
  // Read again: the transaction that held the lock may have changed it.
  const refund = await findRefundById(tx, merchant.id, id);
  assert(refund, 'a refund stays');
  return { refund, payment };
}

/**
 * Changes a charge and its refund when the refund's transfer has ended, or a part of it was reversed. `transfer` is as it is
 * now, and its own money has been booked.
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
        ? reversePart(tx, context, payment, {
            refund,
            partMinor: transfer.amountReversedMinor - before.amountReversedMinor,
          })
        : complete(tx, context, payment, refund);
    case 'failed':
    case 'cancelled':
      return fail(tx, context, payment, { refund, wasPaid: transfer.networkTransactionId !== null });
    case 'reversed':
      return reverse(tx, context, payment, refund);
    case 'pending':
      return assert(false, 'a transfer does not end pending');
  }
}

/**
 * The payer has the money. A refund that was paid after it had failed has no parts any more: the merchant has given all of
 * it, and the next refund takes more from the shares. What the network did not pay is back with the merchant, and is not counted.
 */
async function complete(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  refund: Refund,
): Promise<void> {
  const { charge } = payment;
  const { amountReversedMinor: partMinor } = refund;
  if (partMinor > 0n) await undoPart(tx, context, charge, { refund, partMinor });
  const amountRefundedMinor = charge.amountRefundedMinor + netRefundMinor(refund);
  const isWhole = charge.status === 'completed' && amountRefundedMinor >= remainingMinor(charge);
  const change = isWhole ? ({ status: 'refunded', amountRefundedMinor } as const) : { amountRefundedMinor };
  noteCharge(
    tx,
    context,
    charge,
    'refund_completed',
    `${formatAmount(netRefundMinor(refund))} was refunded to the payer.`,
  );
  await changeCharge(tx, context, payment, change, 'charge.refunded');
}

/** Nothing was refunded: each party gets its part back, and the amount can be refunded again. */
async function fail(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  { refund, wasPaid }: { refund: Refund; wasPaid: boolean },
): Promise<void> {
  const { charge } = payment;
  await bookUndone(tx, context, { charge, refund }, wasPaid ? 'merchant' : 'origin');
  tx.send(deleteRefundParts(refund));
  const reason = refund.failureReason ?? 'The network did not pay.';
  const detail = `The refund of ${formatAmount(refund.amountMinor)} failed. ${reason}`;
  noteCharge(tx, context, charge, 'refund_failed', detail);
  // A reversal that was reported meanwhile was taken for this refund, and is the network's own.
  const operations = findCollecting(context.networks, payment.merchant, charge)?.refunds;
  const isReversal = refund.route === 'network' && operations?.capabilities.reversesCollection === true;
  if (isReversal) enqueueLookUp(tx, context, { ...payment, kind: 'recheck_charge' });
}

/** The network reversed the refund: the payer does not have the money. */
async function reverse(tx: Transaction, context: RefundContext, payment: LockedPayment, refund: Refund): Promise<void> {
  await bookUndone(tx, context, { charge: payment.charge, refund }, 'merchant');
  tx.send(deleteRefundParts(refund));
  await subtractRefunded(tx, context, payment, { reversedMinor: netRefundMinor(refund), what: 'a refund' });
}

/** The network reversed a part: each party gets it back in proportion, and the rest stays refunded. */
async function reversePart(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  { refund, partMinor }: { refund: Refund; partMinor: bigint },
): Promise<void> {
  await undoPart(tx, context, payment.charge, { refund, partMinor });
  await subtractRefunded(tx, context, payment, { reversedMinor: partMinor, what: 'a part of a refund' });
}

/** Gives each party its part of what the payer does not have; `refund` is as it is without it. */
async function undoPart(
  tx: Transaction,
  context: RefundContext,
  charge: Charge,
  { refund, partMinor }: { refund: Refund; partMinor: bigint },
): Promise<void> {
  const { reversed, left } = dividePart(refund.parts, { partMinor, wholeMinor: netRefundMinor(refund) + partMinor });
  await bookUndone(tx, context, { charge, refund: { ...refund, parts: reversed } }, 'merchant');
  for (const part of left) tx.send(updateRefundPart(refund, part));
}

/** What `partMinor` of `wholeMinor` bututs is of each party's part, rounded down, and what is left of the part. */
function dividePart(
  parts: readonly RefundPart[],
  { partMinor, wholeMinor }: { partMinor: bigint; wholeMinor: bigint },
): { reversed: RefundPart[]; left: RefundPart[] } {
  const reversed: RefundPart[] = [];
  const left: RefundPart[] = [];
  for (const { account, amountMinor, advancedMinor } of parts) {
    const ofAmount = (amountMinor * partMinor) / wholeMinor;
    const ofAdvance = (advancedMinor * partMinor) / wholeMinor;
    if (ofAmount > 0n) reversed.push({ account, amountMinor: ofAmount, advancedMinor: ofAdvance });
    left.push({ account, amountMinor: amountMinor - ofAmount, advancedMinor: advancedMinor - ofAdvance });
  }
  return { reversed, left };
}

/** What the network reversed can be refunded again. */
async function subtractRefunded(
  tx: Transaction,
  context: RefundContext,
  payment: LockedPayment,
  { reversedMinor, what }: { reversedMinor: bigint; what: string },
): Promise<void> {
  const { charge } = payment;
  const amountRefundedMinor = charge.amountRefundedMinor - reversedMinor;
  assert(amountRefundedMinor >= 0n, 'what is reversed was counted as refunded');
  const isOpenAgain = charge.status === 'refunded' && amountRefundedMinor < remainingMinor(charge);
  const change = isOpenAgain ? ({ status: 'completed', amountRefundedMinor } as const) : { amountRefundedMinor };
  const detail = `The network reversed ${what}: ${formatAmount(reversedMinor)}, which the payer does not have.`;
  noteCharge(tx, context, charge, 'refund_returned', detail);
  await changeCharge(tx, context, payment, change, 'charge.refunded');
}
