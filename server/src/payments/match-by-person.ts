import { AppError, fieldError } from '../api/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { findReceiptById } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import { withLockedPayment } from './change-payment.ts';
import { isRequestedAmount, type Charge } from './charge.ts';
import { notifyOfIntent, type PaymentContext } from './context.ts';
import { findChargeByName } from './find-payment.ts';
import { payByReceipt, refuseOthers } from './match-receipt.ts';
import { listTypedIdsOfIntent, updateTypedId } from './queries/typed-ids.ts';
import { mustBeConfirmed } from './typed-id.ts';

/** What a person decides: that this receipt paid this charge. */
interface Decision {
  receipt: Receipt;
  charge: Charge;
}

/**
 * The receipt and the payment that a person has named: of one till and amount, whatever was typed.
 *
 * Throws AppError `invalid_request` naming the field, and `state_conflict` where the receipt is contradicted or a line of the
 * statement must confirm it first: who controls the phone can forge a message, also one of the people who decide.
 */
export async function findDecision(
  db: Queryable,
  merchantId: string,
  { receiptId, payment }: { receiptId: string; payment: string },
): Promise<Decision> {
  const receipt = isUuid(receiptId) ? await findReceiptById(db, merchantId, receiptId) : undefined;
  if (!receipt) throw fieldError('invalid_request', 'receipt', 'There is no such receipt.');
  const charge = await findChargeByName(db, merchantId, payment);
  if (!charge) throw fieldError('invalid_request', 'charge', 'There is no payment with this reference.');
  if (charge.railAccount !== receipt.railAccount || !charge.receivedDirectly) {
    throw fieldError('invalid_request', 'charge', 'The payment is not one of this till.');
  }
  if (!isRequestedAmount(charge, receipt)) {
    throw fieldError('invalid_request', 'charge', 'The receipt is of another amount than the payment.');
  }
  if (receipt.chargeId !== null && receipt.chargeId !== charge.id) {
    throw new AppError('state_conflict', 'The receipt has paid another payment.');
  }
  if (receipt.status === 'contradicted') {
    throw new AppError('state_conflict', 'The network’s statement contradicts the receipt, so it pays nothing.');
  }
  if (await mustBeConfirmed(db, receipt)) {
    throw new AppError(
      'state_conflict',
      'It is above the limit for unconfirmed receipts: a line of the statement must confirm it first.',
    );
  }
  return { receipt, charge };
}

/**
 * A person of the business decides that a receipt paid a charge. `record` writes into the same transaction, such as the entry of
 * the audit log.
 *
 * Throws AppError `state_conflict` where either is used already.
 */
export async function matchByPerson(
  context: PaymentContext,
  { receipt, charge }: Decision,
  record: (tx: Transaction) => void | Promise<void>,
): Promise<void> {
  const { merchantId } = receipt;
  const others = await withLockedPayment(context, charge, async (tx, locked) => {
    if (locked.intent.status === 'successful') throw new AppError('state_conflict', 'This payment is paid already.');
    if (!(await payByReceipt(tx, context, locked, receipt))) {
      throw new AppError('state_conflict', 'The receipt has paid another payment, or the statement contradicts it.');
    }
    for (const typed of await listTypedIdsOfIntent(tx, merchantId, charge.intentId)) {
      const isThis = typed.transactionKey === receipt.transactionKey;
      await updateTypedId(tx, { ...typed, state: isThis ? 'paid' : 'refused' }, ['waiting', 'contested']);
    }
    await record(tx);
    return refuseOthers(tx, context, { receipt, intentId: charge.intentId });
  });
  for (const id of others) notifyOfIntent(context, { merchantId, id });
}
