import { hasCase, openCase } from '../cases/open-case.ts';
import type { Transaction } from '../kit/db.ts';
import { formatAmount } from '../kit/money.ts';
import type { Receipt } from '../networks/contract.ts';
import { claimCollection, settleSuccess } from './apply-success.ts';
import { bookReversed } from './booking.ts';
import type { Charge } from './charge.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';

/**
 * The network took a collection back after it had said that it was paid. The success is booked first where we had not
 * heard of it, so that its own news, when it comes late, finds it settled; in the same transaction, because a booked
 * success is no longer looked up, and this might have been the only news of both.
 */
export async function applyReversal(context: PaymentContext, charge: Charge, receipt: Receipt): Promise<void> {
  const from = await claimCollection(context, charge, receipt);
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (await isUnheardOf(tx, locked.charge, receipt)) {
      await openReversalCase(tx, context, charge, receipt, 'It never told us of that money: nothing was booked.');
      return;
    }
    const standing = await settleSuccess(tx, context, locked, from);
    if (standing.at === 'nowhere') return;
    if (standing.at === 'suspense') {
      // Whoever resolves that money's own case must know that it is gone.
      await openReversalCase(tx, context, charge, receipt, 'It stands in suspense: there is nothing left to return.');
      return;
    }
    const { payment } = standing;
    if (payment.charge.status !== 'completed') return;
    const { shortfallMinor } = await bookReversed(tx, context, payment.charge, from.railAccount);
    await changeCharge(tx, context, payment, { status: 'reversed', progress: 'final' }, 'charge.reversed');
    const short = `The merchant's balance was short by ${money(charge.currency, shortfallMinor)}.`;
    await openReversalCase(tx, context, charge, receipt, shortfallMinor === 0n ? '' : short);
  });
}

/** A reversal names the money it takes back; on a paid charge it is the money that paid, or what has a case already. */
async function isUnheardOf(tx: Transaction, charge: Charge, { transactionId }: Receipt): Promise<boolean> {
  if (charge.networkTransactionId === null || charge.networkTransactionId === transactionId) return false;
  return !(await hasCase(tx, { ...charge, reference: transactionId }));
}

async function openReversalCase(
  tx: Transaction,
  context: PaymentContext,
  charge: Charge,
  receipt: Receipt,
  remark: string,
): Promise<void> {
  const taken = `${charge.network} took ${money(receipt.currency, receipt.amountMinor)} back after it had been paid.`;
  await openCase(tx, context, {
    merchantId: charge.merchantId,
    kind: 'network_reversal',
    subjectType: 'charge',
    subjectId: charge.id,
    reference: receipt.transactionId,
    amountMinor: receipt.amountMinor,
    currency: receipt.currency,
    summary: `${taken} ${remark}`.trimEnd(),
  });
}

function money(currency: string, minor: bigint): string {
  return `${currency} ${formatAmount(minor, { style: 'plain' })}`;
}
