import { appendEvent } from '../events/append-event.ts';
import { enqueue, networkQueue } from '../events/outbox.ts';
import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { changeIntent } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { canIntentBecome, statusAt } from './intent.ts';
import type { Intent, IntentStatus } from './intent.ts';
import { intentEventRecord } from './intent-wire.ts';
import { listChargesOfIntent } from './queries/charges.ts';
import { lockIntent } from './queries/intents.ts';

/**
 * Cancels an open intent, for the merchant or the payer. An attempt under way is cancelled at its network by a worker;
 * if the payer paid all the same, that success is booked late.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function cancelPayment(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  intentId: string,
): Promise<Intent> {
  const intent = await lockIntent(tx, merchant.id, intentId);
  if (!intent) throw new AppError('not_found', 'There is no such payment.');
  const status = statusAt(intent, context.clock.now());
  if (!canIntentBecome(status, 'cancelled') || intent.review !== null) {
    throw new AppError('state_conflict', refusals[intent.review === null ? status : 'review']);
  }
  const eventSequence = intent.eventSequence + 1n;
  const cancelled = await changeIntent(tx, context, intent, { status: 'cancelled', eventSequence });
  appendEvent(tx, context, {
    merchantId: merchant.id,
    kind: 'payment_intent.cancelled',
    objectId: intent.id,
    sequence: eventSequence,
    record: intentEventRecord(context, merchant, cancelled),
    callbackUrl: intent.callbackUrl,
  });
  for (const charge of await listChargesOfIntent(tx, merchant.id, intent.id)) {
    if (charge.status !== 'pending') continue;
    enqueue(tx, context, {
      merchantId: merchant.id,
      queue: networkQueue({ network: charge.network, testMode: merchant.testMode }, 'look-ups'),
      kind: 'cancel_charge',
      subjectId: charge.id,
    });
  }
  return cancelled;
}

const refusals: Record<IntentStatus | 'review', string> = {
  successful: 'This payment has been paid and can no longer be cancelled.',
  failed: 'This payment has failed; there is nothing left to cancel.',
  cancelled: 'This payment has been cancelled already.',
  expired: 'This payment has expired; there is nothing left to cancel.',
  review: 'Money has come for this payment that a person has to look at; it can no longer be cancelled.',
  requires_payment_method: 'This payment cannot be cancelled just now.',
  processing: 'This payment cannot be cancelled just now.',
};
