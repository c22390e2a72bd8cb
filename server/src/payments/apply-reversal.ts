import { openCase } from '../cases/open-case.ts';
import { formatAmount } from '../kit/money.ts';
import type { Receipt } from '../networks/contract.ts';
import { applySuccess } from './apply-success.ts';
import { bookReversed } from './booking.ts';
import type { Charge } from './charge.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';

/**
 * The network took a collection back after it had said that it was paid. The success is booked first where we had not
 * heard of it, so that its own news, when it comes late, finds it settled.
 */
export async function applyReversal(context: PaymentContext, charge: Charge, receipt: Receipt): Promise<void> {
  await applySuccess(context, charge, receipt);
  const { railAccount } = (await connectorOf(context, charge)).capabilities;
  await withLockedPayment(context, charge, async (tx, locked) => {
    // Money in suspense is returned by whoever resolves its case.
    if (locked.charge.status !== 'completed' || locked.charge.networkTransactionId !== receipt.transactionId) return;
    const { shortfallMinor } = await bookReversed(tx, context, locked.charge, railAccount);
    await changeCharge(tx, context, locked, { status: 'reversed', progress: 'final' }, 'charge.reversed');
    await openCase(tx, context, {
      merchantId: charge.merchantId,
      kind: 'network_reversal',
      subjectType: 'charge',
      subjectId: charge.id,
      reference: receipt.transactionId,
      amountMinor: receipt.amountMinor,
      currency: receipt.currency,
      summary: reversalSummary(charge, shortfallMinor),
    });
  });
}

function reversalSummary(charge: Charge, shortfallMinor: bigint): string {
  const money = (minor: bigint) => `${charge.currency} ${formatAmount(minor, { style: 'plain' })}`;
  const taken = `${charge.network} took ${money(charge.amountPaidMinor)} back after it had been paid.`;
  return shortfallMinor === 0n ? taken : `${taken} The merchant's balance was short by ${money(shortfallMinor)}.`;
}
