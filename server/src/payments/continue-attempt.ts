import { AppError } from '../kit/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { applyResponse } from './apply-response.ts';
import { noteChargeNow } from './charge-notes.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import { findLastNoteTime } from './queries/charge-notes.ts';
import { findLatestCharge } from './queries/charges.ts';
import { findIntentById } from './queries/intents.ts';

// A payer who presses the button again and again asks the network once in a while; the page's own look-ups do the rest.
const reportEveryMs = 3_000;

/**
 * The payer typed a code, or (null) says that the approval is done. The code goes to the network once, from memory: it
 * is neither stored nor logged, and never sent again by itself. A payment that was cancelled or has expired takes
 * neither: what the payer does on a page of yesterday must not collect anything.
 *
 * Throws AppError `state_conflict` when nothing waits for it, and `invalid_request` on `code` when it was wrong.
 */
export async function continueAttempt(
  context: PaymentContext,
  payment: { merchantId: string; intentId: string },
  code: string | null,
): Promise<void> {
  const { merchantId, intentId } = payment;
  const now = context.clock.now();
  const intent = await findIntentById(context.db, merchantId, intentId);
  const charge = await findLatestCharge(context.db, merchantId, intentId);
  const expected = code === null ? 'approve_then_confirm' : 'enter_code';
  const isOpen = intent !== undefined && statusAt(intent, now) === 'processing';
  if (!isOpen || charge?.status !== 'pending' || charge.nextAction?.type !== expected) {
    throw new AppError('state_conflict', 'This payment does not wait for that any more. Look at its page again.');
  }
  if (code === null) {
    const reportedAt = await findLastNoteTime(context.db, charge, 'approval_reported');
    if (reportedAt && addMs(reportedAt, reportEveryMs) > now) return;
  }
  const [kind, detail] =
    code === null
      ? (['approval_reported', 'The payer says that the approval is done.'] as const)
      : (['code_entered', 'The payer entered a code.'] as const);
  await noteChargeNow(context.db, context, charge, kind, detail);
  const connector = await connectorOf(context, charge);
  const handles = charge.networkHandles ?? {};
  const response = await connector.continueCollection({ reference: charge.reference, handles, code });
  await applyResponse(context, charge, response);
}
