import { appendEvent } from '../events/append-event.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { changeIntent } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { isOpen, statusAt } from './intent.ts';
import type { Intent } from './intent.ts';
import { intentEventRecord } from './intent-wire.ts';
import { listIntentsToExpire, lockIntent } from './queries/intents.ts';

// Per merchant and sweep, so that one merchant's backlog does not keep the others waiting.
const rowsMax = 100;

/**
 * Writes down what the clock has decided: open intents whose time has passed are `expired`. Reading an intent tells
 * the same without this; the event needs it. Answers how many were written.
 */
export async function expirePayments(context: PaymentContext): Promise<number> {
  const due = await listIntentsToExpire(context.db, context.clock.now(), rowsMax);
  for (const { merchantId, id } of due) await expirePayment(context, merchantId, id);
  return due.length;
}

async function expirePayment(context: PaymentContext, merchantId: string, intentId: string): Promise<void> {
  const merchant = await context.merchants.byId(merchantId);
  if (!merchant) return;
  await context.db.withTransaction(async (tx) => {
    const intent = await lockIntent(tx, merchantId, intentId);
    if (intent) await writeExpiry(tx, context, merchant, intent);
  });
}

/**
 * The locked intent, with its expiry written down and told where the clock has decided it and no job has come by yet:
 * what happens to it afterwards, such as a late success, then follows the event that it is late against.
 */
export async function writeExpiry(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  intent: Intent,
): Promise<Intent> {
  if (!isOpen(intent.status) || statusAt(intent, context.clock.now()) !== 'expired') return intent;
  const eventSequence = intent.eventSequence + 1n;
  const expired = await changeIntent(tx, context, intent, { status: 'expired', eventSequence });
  appendEvent(tx, context, {
    merchantId: merchant.id,
    kind: 'payment_intent.expired',
    objectId: intent.id,
    sequence: eventSequence,
    record: intentEventRecord(context, merchant, expired),
    callbackUrl: intent.callbackUrl,
  });
  return expired;
}
