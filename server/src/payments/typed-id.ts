import { AppError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { findReceiptConfirmAbove } from '../merchants/receipt-limit.ts';
import { findReceiptByKey } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import type { Charge } from './charge.ts';
import type { TypedId } from './checkout-view.ts';
import type { Intent } from './intent.ts';
import { listTypedIdsOfIntent, type TypedIdRow } from './queries/typed-ids.ts';

/** What became of a transaction id that the payer typed after sending the money. */
export type TypedIdResult =
  /** The network's message has not arrived, or a statement line must confirm it first, or a person looks at it. */
  | { state: 'accepted' }
  | { state: 'paid' }
  /** The text cannot be an id. It uses no try. */
  | { state: 'wrong_form' }
  | { state: 'tries_left'; triesLeft: number }
  /** Too many wrong ids. */
  | { state: 'closed' };

/** The id does not pay the payment, as far as is known now. */
export class TypedIdRefusedError extends AppError {
  /** Null for a text that cannot be an id, which uses no try. */
  readonly triesLeft: number | null;

  constructor(left: number | null) {
    const message = left === null ? 'This is no transaction id.' : 'No payment with this id and amount has arrived.';
    super('invalid_request', message, { fields: [{ path: 'transaction_id', message }] });
    this.triesLeft = left;
  }
}

/** Throws AppError `invalid_request` on `transaction_id`, and `state_conflict` where no further one is tried. */
export function throwIfTypedWrong(result: TypedIdResult): void {
  switch (result.state) {
    case 'accepted':
    case 'paid':
      return;
    case 'wrong_form':
      throw new TypedIdRefusedError(null);
    case 'tries_left':
      throw new TypedIdRefusedError(result.triesLeft);
    case 'closed':
      throw new AppError('state_conflict', 'Too many wrong transaction ids were typed for this payment.');
  }
}

/** Wrong ids of one payment, however many attempts it has: whoever guesses ids is stopped. */
export const wrongIdsMax = 5;

/** An id that waits and is replaced by another one was wrong too. */
export function triesLeft(typed: readonly TypedIdRow[]): number {
  return Math.max(0, wrongIdsMax - typed.filter(({ state }) => state === 'refused').length);
}

// The phone's clock and ours differ.
const clockSlackMs = 2 * 60_000;

/** Why a receipt does not pay a charge by itself, in a sentence; null where it does. */
export function whyNotPaying(
  receipt: Receipt,
  charge: Pick<Charge, 'railAccount' | 'amountPaidMinor' | 'currency'>,
  intent: Pick<Intent, 'createdAt'>,
): string | null {
  if (receipt.status === 'contradicted') return 'The network’s statement contradicts the message.';
  if (receipt.railAccount !== charge.railAccount) return 'The message is about another till.';
  if (receipt.amountMinor !== charge.amountPaidMinor || receipt.currency !== charge.currency) {
    return 'The message is about another amount.';
  }
  const earliest = addMs(intent.createdAt, -clockSlackMs);
  return receipt.datedAt < earliest ? 'The message is older than the payment.' : null;
}

/** Whether a line of the statement must confirm the receipt before it pays. */
export async function mustBeConfirmed(db: Queryable, receipt: Receipt): Promise<boolean> {
  if (receipt.status === 'confirmed') return false;
  const limitMinor = await findReceiptConfirmAbove(db, receipt.merchantId);
  return limitMinor !== null && receipt.amountMinor > limitMinor;
}

/** What the payer's page shows of the ids typed for a payment. */
export async function typedIdOf(db: Queryable, charge: Charge): Promise<TypedId> {
  const typed = await listTypedIdsOfIntent(db, charge.merchantId, charge.intentId);
  const current = typed.findLast(
    ({ chargeId, state }) => chargeId === charge.id && (state === 'waiting' || state === 'contested'),
  );
  const left = triesLeft(typed);
  if (!current) return { value: null, waitsFor: null, triesLeft: left };
  const { transactionKey: value, state } = current;
  if (state === 'contested') return { value, waitsFor: 'check', triesLeft: left };
  const receipt = await findReceiptByKey(db, current);
  const waitsFor = receipt !== undefined && (await mustBeConfirmed(db, receipt)) ? 'statement' : 'message';
  return { value, waitsFor, triesLeft: left };
}

/** The last characters, for notes, which anybody of the business reads. */
export function maskedId(transactionKey: string): string {
  return `.... ${transactionKey.slice(-4)}`;
}
