import { AppError } from '../api/app-error.ts';
import type { Transaction, TransactionCause } from '../kit/db.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { Intent } from '../payments/intent.ts';
import { findPaymentOfForm, isFormUsed, releaseForm, type PaymentForm } from '../payments/payment-of-form.ts';

export interface PayOnce {
  /** Null for a page of an earlier release, whose forms have no id: each press is a payment. */
  form: PaymentForm | null;
  cause: TransactionCause;
  /** Counts the payment against the limits of its page. */
  countPayment: () => Promise<void>;
  create: (tx: Transaction) => Promise<Intent>;
}

/**
 * Creates the payment of a form, or returns the one that the form has created already. Two presses at once both try to create
 * it: the unique index lets one of them commit, and the other one finds its payment. One that is over is replaced by a new one.
 */
export async function payOnce(
  context: PaymentContext,
  { form, cause, countPayment, create }: PayOnce,
): Promise<Intent> {
  const find = async () => (form === null ? undefined : findPaymentOfForm(context.db, context.clock, form));
  const first = await find();
  if (first && !first.isOver) return first.intent;
  try {
    await countPayment();
    return await context.db.withTransaction(async (tx) => {
      if (first && !(await releaseForm(tx, context.clock, first))) return first.intent;
      return create(tx);
    }, cause);
  } catch (error) {
    // A refusal too: the other press may have used up what this one was refused for, such as the prompt on the number.
    if (!isFormUsed(error) && !(error instanceof AppError)) throw error;
    const other = await find();
    if (other && (!other.isOver || isFormUsed(error))) return other.intent;
    throw error;
  }
}
