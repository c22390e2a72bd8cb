import type { Transaction } from '../kit/db.ts';
import type { Failure } from '../networks/contract.ts';
import type { Charge, ChargeFailureCode } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { changeCharge, changeIntent, withLockedPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { attemptsMax, statusAt } from './intent.ts';

/**
 * The network refused, and says so finally. The attempt ends; the intent waits for another one while attempts and time
 * are left. A refusal that comes after a success changes nothing: success absorbs.
 */
export async function applyRefusal(context: PaymentContext, charge: Charge, failure: Failure): Promise<void> {
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (locked.charge.status !== 'pending' || locked.charge.review !== null) {
      // The same news again, by answer and callback, is nothing that happened.
      if (locked.charge.failureCode === failure.code) return;
      noteCharge(tx, context, charge, 'refusal_ignored', `The network said: ${failure.reason}`);
      return;
    }
    await endAttempt(tx, context, locked, failure);
  });
}

/** Ends a pending attempt that brought nothing; the intent goes on as far as attempts and time reach. */
export async function endAttempt(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  failure: { code: ChargeFailureCode; reason: string },
): Promise<void> {
  const cancelled = failure.code === 'cancelled';
  await changeCharge(
    tx,
    context,
    locked,
    {
      status: cancelled ? 'cancelled' : 'failed',
      progress: 'final',
      review: null,
      failureCode: failure.code,
      failureReason: failure.reason,
    },
    cancelled ? null : 'charge.failed',
  );
  const { intent } = locked;
  if (statusAt(intent, context.clock.now()) !== 'processing') return;
  const status = intent.attempts < attemptsMax ? 'requires_payment_method' : 'failed';
  await changeIntent(tx, context, intent, { status });
}
