import { AppError, fieldError } from '../api/app-error.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { findReceiptById } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { withLockedPayment } from './change-payment.ts';
import { isRequestedAmount } from './charge.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { payByReceipt } from './match-receipt.ts';
import { findChargeById, listUnpaidByReceipt } from './queries/charges.ts';
import { listTypedIdsOfIntent, updateTypedId } from './queries/typed-ids.ts';

const proposalsMax = 20;
// A payer may pay a day late, and a message may be as old as a gateway repeats it.
const proposedForMs = 3 * dayMs;

/**
 * Unpaid payments of the same till and amount around the time of a receipt, the payer's own number first. Only proposals: a
 * stranger's ordinary payment to the till may have the same amount.
 */
export async function proposalsFor(db: Queryable, receipt: Receipt): Promise<Charge[]> {
  const { merchantId, railAccount, amountMinor, datedAt, payerNumber } = receipt;
  const found = await listUnpaidByReceipt(db, {
    ...{ merchantId, railAccount, amountMinor, rowsMax: proposalsMax },
    ...{ start: addMs(datedAt, -proposedForMs), end: addMs(datedAt, proposedForMs) },
  });
  const digits = (text: string | null): string => text?.replaceAll(/\D/g, '').slice(-7) ?? '';
  const isPayers = ({ accountCanonical }: Charge): boolean =>
    digits(payerNumber) !== '' && digits(accountCanonical) === digits(payerNumber);
  return found.toSorted((one, other) => Number(isPayers(other)) - Number(isPayers(one)));
}

/**
 * A person of the business decides that a receipt paid a charge: of the same till and amount, whatever was typed. `record` writes
 * into the same transaction, such as the entry of the audit log.
 *
 * Throws AppError `invalid_request` naming the field, and `state_conflict` where either is used already.
 */
export async function matchByPerson(
  context: PaymentContext,
  merchantId: string,
  { receiptId, chargeId }: { receiptId: string; chargeId: string },
  record: (tx: Transaction) => void | Promise<void>,
): Promise<void> {
  const receipt = isUuid(receiptId) ? await findReceiptById(context.db, merchantId, receiptId) : undefined;
  if (!receipt) throw fieldError('invalid_request', 'receipt', 'There is no such receipt.');
  const charge = await findChargeById(context.db, merchantId, chargeId);
  if (!charge || charge.railAccount !== receipt.railAccount || !charge.receivedDirectly) {
    throw fieldError('invalid_request', 'charge', 'The payment is not one of this till.');
  }
  if (!isRequestedAmount(charge, receipt)) {
    throw fieldError('invalid_request', 'charge', 'The receipt is of another amount than the payment.');
  }
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (locked.intent.status === 'successful') throw new AppError('state_conflict', 'This payment is paid already.');
    if (!(await payByReceipt(tx, context, locked, receipt))) {
      throw new AppError('state_conflict', 'The receipt has paid another payment, or the statement contradicts it.');
    }
    for (const typed of await listTypedIdsOfIntent(tx, merchantId, charge.intentId)) {
      const isThis = typed.transactionKey === receipt.transactionKey;
      await updateTypedId(tx, { ...typed, state: isThis ? 'paid' : 'refused' }, ['waiting', 'contested']);
    }
    await record(tx);
  });
}
