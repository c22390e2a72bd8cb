import { AppError } from '../kit/app-error.ts';
import { applyAnswer } from './apply-answer.ts';
import { noteChargeNow } from './charge-notes.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { findLatestCharge } from './queries.ts';

/**
 * The payer typed a code, or (null) says that the approval is done. The code goes to the network once, from memory: it
 * is neither stored nor logged, and never sent again by itself.
 *
 * Throws AppError `state_conflict` when nothing waits for it, and `invalid_request` on `code` when it was wrong.
 */
export async function continueAttempt(
  context: PaymentContext,
  payment: { merchantId: string; intentId: string },
  code: string | null,
): Promise<void> {
  const charge = await findLatestCharge(context.db, payment.merchantId, payment.intentId);
  const expected = code === null ? 'approve_then_confirm' : 'enter_code';
  if (charge?.status !== 'pending' || charge.nextAction?.type !== expected) {
    throw new AppError('state_conflict', 'This payment does not wait for that any more. Look at its page again.');
  }
  const [kind, detail] =
    code === null
      ? (['approval_reported', 'The payer says that the approval is done.'] as const)
      : (['code_entered', 'The payer entered a code.'] as const);
  await noteChargeNow(context.db, context, charge, kind, detail);
  const connector = await connectorOf(context, charge);
  const handles = charge.networkHandles ?? {};
  const answer = await connector.continueCollection({ reference: charge.reference, handles, code });
  await applyAnswer(context, charge, answer);
}
