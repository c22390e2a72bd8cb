import { AppError } from '../api/app-error.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { transactionKeyOf } from '../receipts/receipt.ts';
import { withLockedPayment, type LockedPayment } from './change-payment.ts';
import { openAction, type Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import { matchTransaction } from './match-receipt.ts';
import { findChargeById } from './queries/charges.ts';
import { listTypedIdsOfIntent, updateTypedId, insertTypedId, type TypedIdRow } from './queries/typed-ids.ts';
import { maskedId, triesLeft, wrongIdsMax, type TypedIdResult } from './typed-id.ts';

/**
 * The payer has sent the money and types the id of the network's message. The claim alone pays nothing: it waits for the receipt
 * with this id. Another id may replace one that waits, which then counts as wrong.
 *
 * Throws AppError `state_conflict` where the attempt does not wait for an id.
 */
export async function submitTransactionId(
  context: PaymentContext,
  merchant: Merchant,
  { intentId, chargeId, typed }: { intentId: string; chargeId: string; typed: string },
): Promise<TypedIdResult> {
  const charge = await findChargeById(context.db, merchant.id, chargeId);
  if (charge?.intentId !== intentId) throw notWaiting();
  const transactionKey = transactionKeyOf(typed);
  const { railAccount } = charge;
  if (transactionKey === null || railAccount === null) return { state: 'wrong_form' };
  const row: TypedIdRow = {
    ...{ merchantId: merchant.id, intentId, railAccount, transactionKey, chargeId, state: 'waiting' },
    typedAt: context.clock.now(),
  };
  const isStored = await storeTyped(context, charge, row);
  if (!isStored) return { state: 'closed' };
  await matchTransaction(context, row);
  return resultOf(context, row);
}

/** Returns false, and stores nothing, where too many wrong ids were typed. */
async function storeTyped(context: PaymentContext, charge: Charge, row: TypedIdRow): Promise<boolean> {
  return withLockedPayment(context, charge, async (tx, locked) => {
    const typed = await listTypedIdsOfIntent(tx, row.merchantId, row.intentId);
    const same = typed.find(({ transactionKey, railAccount }) => isSame(row, { transactionKey, railAccount }));
    // Sent twice, as by an impatient payer.
    if (same && same.state !== 'refused') return true;
    if (!isAwaitingId(context, locked)) throw notWaiting();
    if (triesLeft(typed) === 0) return false;
    // A refused id stays refused: typing it again would use up no try.
    if (same) return true;
    // The last one waits on: it may be the right one, and its message late.
    if (typed.length >= wrongIdsMax) return false;
    for (const earlier of typed) await updateTypedId(tx, { ...earlier, state: 'refused' }, ['waiting']);
    tx.send(insertTypedId(row));
    const detail = `The payer typed the transaction id ${maskedId(row.transactionKey)}.`;
    noteCharge(tx, context, charge, 'transaction_id_typed', detail);
    return true;
  });
}

type TypedTransaction = Pick<TypedIdRow, 'railAccount' | 'transactionKey'>;

function isSame(one: TypedTransaction, other: TypedTransaction): boolean {
  return one.railAccount === other.railAccount && one.transactionKey === other.transactionKey;
}

function isAwaitingId(context: PaymentContext, { intent, charge }: LockedPayment): boolean {
  const isProcessing = statusAt(intent, context.clock.now()) === 'processing';
  return isProcessing && openAction(charge)?.type === 'send_and_enter_id';
}

async function resultOf(context: PaymentContext, row: TypedIdRow): Promise<TypedIdResult> {
  const typed = await listTypedIdsOfIntent(context.db, row.merchantId, row.intentId);
  const current = typed.find((each) => isSame(each, row));
  if (current?.state === 'paid') return { state: 'paid' };
  if (current?.state !== 'refused') return { state: 'accepted' };
  const left = triesLeft(typed);
  return left === 0 ? { state: 'closed' } : { state: 'tries_left', triesLeft: left };
}

function notWaiting(): AppError {
  return new AppError('state_conflict', 'This payment no longer waits for a transaction id. Reload its page.');
}
