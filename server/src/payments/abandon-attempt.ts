import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { changeIntent, dropAttempt, enqueueCancellation } from './change-payment.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import type { PaymentContext } from './context.ts';
import { attemptsMax, statusAt, type Intent } from './intent.ts';
import { findCurrentCharge, updateChargeAbandoned } from './queries/charges.ts';
import { lockIntent } from './queries/intents.ts';

/**
 * The payer leaves the current attempt, named by `chargeId`, to use another number or network, without ending the payment. An
 * attempt that was not sent yet is dropped. One that was sent stays open, because the payer may still approve it: a worker
 * cancels it at its network, and only its success still changes the payment (docs/architecture.md, "States").
 *
 * Throws AppError `not_found`, and `state_conflict` where it is not the current attempt, is not open, or no further one may follow.
 */
export async function abandonAttempt(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  { intentId, chargeId }: { intentId: string; chargeId: string | null },
): Promise<void> {
  const intent = await lockIntent(tx, merchant.id, intentId);
  if (!intent) throw new AppError('not_found', 'Payment not found.');
  const charge = await findCurrentCharge(tx, merchant.id, intentId);
  const now = context.clock.now();
  // The page that sent the form may show an earlier attempt.
  if (charge?.id !== chargeId || !canAbandon(intent, charge, now)) {
    throw new AppError(
      'state_conflict',
      'The number or network of this payment can no longer be changed. Reload its page.',
    );
  }
  const abandoned: Charge = { ...charge, abandonedAt: now, updatedAt: now };
  const touched = await updateChargeAbandoned(tx, abandoned);
  assert(touched === 1, 'nobody else changes a charge of a locked intent');
  const sentence = 'The payer left this attempt to use another number or network.';
  noteCharge(tx, context, charge, 'attempt_abandoned', sentence);
  if (charge.progress === 'created') return dropAttempt(tx, context, { merchant, intent, charge: abandoned }, sentence);
  enqueueCancellation(tx, context, charge, merchant.testMode);
  await changeIntent(tx, context, { merchant, intent }, { status: 'requires_payment_method' }, null);
}

/** Whether the payer may leave an intent's current attempt: its outcome is open, and another attempt may follow. */
export function canAbandon(intent: Intent, charge: Charge, now: Date): boolean {
  const isWaiting =
    statusAt(intent, now) === 'processing' && charge.status === 'pending' && charge.abandonedAt === null;
  return isWaiting && intent.review === null && charge.review === null && intent.attempts < attemptsMax;
}
