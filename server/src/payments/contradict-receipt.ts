import { openCase } from '../cases/open-case.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { findReceiptById, updateReceiptStatus } from '../receipts/receipt-store.ts';
import type { Receipt, ReceiptStatus } from '../receipts/receipt.ts';
import { reverseFromCharge } from './apply-reversal.ts';
import { withLockedPayment, type LockedPayment } from './change-payment.ts';
import { isPaid, remainingMinor } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { findChargeById } from './queries/charges.ts';

/** What the network's statement says against a receipt. */
export type Contradiction = 'absent' | 'other_amount' | 'reversed';

const sentences: Readonly<Record<Contradiction, string>> = {
  absent: 'The statement of that day does not have it.',
  other_amount: 'The statement has another amount.',
  reversed: 'The network has reversed it.',
};

/**
 * The statement contradicts a receipt: it pays nothing any more, and a charge that it has paid is taken back, with a case. The
 * merchant owes nothing for that, because the money never was with the operator. Returns whether anything changed.
 */
export async function contradictReceipt(
  context: PaymentContext,
  found: Pick<Receipt, 'merchantId' | 'id'>,
  contradiction: Contradiction,
): Promise<boolean> {
  const receipt = await findReceiptById(context.db, found.merchantId, found.id);
  const from: readonly ReceiptStatus[] = contradiction === 'reversed' ? ['unconfirmed', 'confirmed'] : ['unconfirmed'];
  if (!receipt || !from.includes(receipt.status)) return false;
  const charge =
    receipt.chargeId === null ? undefined : await findChargeById(context.db, receipt.merchantId, receipt.chargeId);
  const write = async (tx: Transaction): Promise<boolean> => {
    const next = { ...receipt, status: 'contradicted', updatedAt: context.clock.now() } as const;
    return (await updateReceiptStatus(tx, next, from)) > 0;
  };
  const isChanged = charge
    ? await withLockedPayment(context, charge, async (tx, locked) => {
        if (!(await write(tx))) return false;
        await takeBack(tx, context, locked, { receipt, contradiction });
        return true;
      })
    : await context.db.withTransaction(write);
  // It has paid a charge or was contradicted meanwhile.
  return isChanged || contradictReceipt(context, found, contradiction);
}

async function takeBack(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  { receipt, contradiction }: { receipt: Receipt; contradiction: Contradiction },
): Promise<void> {
  const { charge } = locked;
  const { merchantId, railAccount, transactionId, amountMinor, currency } = receipt;
  const summary = `A message of ${moneyText(receipt)} had paid it. ${sentences[contradiction]} The payment was taken back.`;
  noteCharge(tx, context, charge, 'receipt_contradicted', summary);
  await openCase(tx, context, {
    ...{ merchantId, kind: 'network_reversal', subjectType: 'charge', subjectId: charge.id, reference: transactionId },
    ...{ amountMinor, currency, summary },
  });
  if (!isPaid(charge)) return;
  const reversedMinor = remainingMinor(charge);
  await reverseFromCharge(tx, context, locked, { railAccount, reversedMinor, divided: 'as_it_came' });
}
