import type { Clock } from '../kit/clock.ts';
import { isUniqueViolation } from '../kit/db-errors.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isOpen, statusAt, type Intent } from './intent.ts';
import { listChargesOfIntent } from './queries/charges.ts';
import { clearFormHash, findIntentByFormHash, lockIntent } from './queries/intents.ts';

/** One form of a hosted page: sent twice, it creates one payment. */
export interface PaymentForm {
  merchantId: string;
  formHash: string;
}

export interface PaymentOfForm {
  intent: Intent;
  /** The payment has ended unpaid, and no attempt of it is open: the form, sent again, creates another one. */
  isOver: boolean;
}

/** The payment that this form has created. */
export async function findPaymentOfForm(
  db: Queryable,
  clock: Clock,
  { merchantId, formHash }: PaymentForm,
): Promise<PaymentOfForm | undefined> {
  const intent = await findIntentByFormHash(db, merchantId, formHash);
  return intent && { intent, isOver: await isOver(db, clock, intent) };
}

async function isOver(db: Queryable, clock: Clock, intent: Intent): Promise<boolean> {
  const status = statusAt(intent, clock.now());
  if (status === 'successful' || isOpen(status) || intent.review !== null) return false;
  // Late money counts: paying again before the outcome is known may be paying twice, and the payment's page says so.
  const charges = await listChargesOfIntent(db, intent.merchantId, intent.id);
  return charges.every((charge) => charge.status !== 'pending' && charge.review === null);
}

/**
 * Lets the form of a payment that is over create another one, in the transaction that does so. Returns false, and does nothing,
 * where late money has arrived for it meanwhile.
 */
export async function releaseForm(tx: Transaction, clock: Clock, { intent }: PaymentOfForm): Promise<boolean> {
  const locked = await lockIntent(tx, intent.merchantId, intent.id);
  if (!locked || !(await isOver(tx, clock, locked))) return false;
  tx.send(clearFormHash(locked));
  return true;
}

/** Whether another request with the same form has created its payment first. */
export function isFormUsed(error: unknown): boolean {
  return isUniqueViolation(error, 'payment_intents_form_hash_key');
}
