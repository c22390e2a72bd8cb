import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { cancelOpenAttempts, changeIntent } from './change-payment.ts';
import type { PaymentContext } from './context.ts';
import { canIntentBecome, statusAt, type Intent, type IntentStatus } from './intent.ts';
import { lockIntent } from './queries/intents.ts';

/**
 * Cancels an open intent, for the merchant or the payer. A worker cancels an open attempt at its network; if the payer paid
 * all the same, that success is booked late.
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
  if (!intent) throw new AppError('not_found', 'Payment not found.');
  const status = statusAt(intent, context.clock.now());
  if (!canIntentBecome(status, 'cancelled') || intent.review !== null) {
    throw new AppError('state_conflict', refusals[intent.review === null ? status : 'review']);
  }
  const change = { status: 'cancelled' } as const;
  const cancelled = await changeIntent(tx, context, { merchant, intent }, change, 'payment_intent.cancelled');
  await cancelOpenAttempts(tx, context, merchant, intentId);
  return cancelled;
}

const refusals: Record<IntentStatus | 'review', string> = {
  successful: 'This payment has been paid and can no longer be cancelled.',
  failed: 'This payment has failed; there is nothing left to cancel.',
  cancelled: 'This payment has been cancelled already.',
  expired: 'This payment has expired; there is nothing left to cancel.',
  review: 'This payment is under review because money was received for it; it can no longer be cancelled.',
  requires_payment_method: 'This payment cannot be cancelled just now.',
  processing: 'This payment cannot be cancelled just now.',
};
