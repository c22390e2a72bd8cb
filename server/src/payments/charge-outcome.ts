import { appendEvent } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import { cancelWork } from '../events/outbox.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { endPrompt } from '../networks/prompt-limits.ts';
import { canChargeBecome } from './charge.ts';
import type { Charge } from './charge.ts';
import { chargeEventRecord } from './charge-wire.ts';
import { intentTopic } from './context.ts';
import type { PaymentContext } from './context.ts';
import { canIntentBecome } from './intent.ts';
import type { Intent } from './intent.ts';
import { findChargeById, updateChargeOutcome } from './queries/charges.ts';
import { lockIntent, updateIntent } from './queries/intents.ts';

export interface LockedPayment {
  merchant: Merchant;
  intent: Intent;
  charge: Charge;
}

/**
 * One transaction over a payment. The intent is locked before its charge is read, so every change of either waits for
 * the one before it; the merchant is known before the transaction begins, because asking for another connection inside
 * one could leave all of them waiting for each other.
 */
export async function withLockedPayment<Result>(
  context: PaymentContext,
  charge: Charge,
  body: (tx: Transaction, locked: LockedPayment) => Promise<Result>,
): Promise<Result> {
  const merchant = await context.merchants.byId(charge.merchantId);
  assert(merchant, 'a charge has its merchant');
  return context.db.withTransaction(async (tx) => body(tx, await lockPayment(tx, merchant, charge)));
}

/** Locks a payment in a transaction that somebody else has begun; it waits for whoever changes it just now. */
export async function lockPayment(
  tx: Transaction,
  merchant: Merchant,
  charge: Pick<Charge, 'id' | 'intentId'>,
): Promise<LockedPayment> {
  // Sent together, run one after the other.
  const [intent, current] = await Promise.all([
    lockIntent(tx, merchant.id, charge.intentId),
    findChargeById(tx, merchant.id, charge.id),
  ]);
  assert(intent && current, 'a charge has its intent');
  return { merchant, intent, charge: current };
}

/** What of a charge changes with its outcome. */
export type ChargeChange = Partial<
  Pick<
    Charge,
    | 'status'
    | 'progress'
    | 'failureCode'
    | 'failureReason'
    | 'review'
    | 'late'
    | 'paidAt'
    | 'settlesAt'
    | 'settledAt'
    | 'networkReference'
    | 'networkTransactionId'
    | 'amountReceivedMinor'
    | 'amountRefundedMinor'
    | 'amountReversedMinor'
    | 'debtRepaidMinor'
    | 'reservePercentHundredths'
    | 'accountNumber'
    | 'accountCanonical'
  >
>;

/**
 * Writes the end (or the review) of a charge, with its event where it has one, and takes back the look-up that was
 * due. The move is checked against the table in charge.ts and guarded in the statement.
 */
export async function changeCharge(
  tx: Transaction,
  context: PaymentContext,
  { merchant, intent, charge }: LockedPayment,
  change: ChargeChange,
  eventKind: EventKind | null,
): Promise<Charge> {
  const status = change.status ?? charge.status;
  assert(status === charge.status || canChargeBecome(charge.status, status), `no move ${charge.status} → ${status}`);
  const next: Charge = {
    ...charge,
    ...change,
    eventSequence: eventKind === null ? charge.eventSequence : charge.eventSequence + 1n,
    updatedAt: context.clock.now(),
  };
  const touched = await updateChargeOutcome(tx, charge.status, next);
  assert(touched === 1, 'a locked charge does not change under us');
  if (eventKind !== null) {
    appendEvent(tx, context, {
      merchantId: merchant.id,
      kind: eventKind,
      objectId: next.id,
      sequence: next.eventSequence,
      record: chargeEventRecord(context, merchant, intent, next),
      callbackUrl: intent.callbackUrl,
    });
  }
  if (charge.status === 'pending' && next.status !== 'pending') await endFollowUps(tx, context, merchant, next);
  tx.afterCommit(() => context.changes.notify(intentTopic(intent.id)));
  return next;
}

/** Nothing is looked up any more, and the payer's number may be asked again. */
async function endFollowUps(
  tx: Transaction,
  context: PaymentContext,
  merchant: Merchant,
  charge: Charge,
): Promise<void> {
  cancelWork(tx, { merchantId: merchant.id, kind: 'look_up_charge', subjectId: charge.id });
  if (merchant.testMode || charge.accountCanonical === null) return;
  const { network, accountCanonical: number, id: chargeId } = charge;
  await endPrompt(tx, context.clock, { network, number, chargeId });
}

/** Moves the intent as the table in intent.ts allows, guarded in the statement. */
export async function changeIntent(
  tx: Transaction,
  context: PaymentContext,
  intent: Intent,
  change: Partial<Pick<Intent, 'status' | 'late' | 'review' | 'eventSequence'>>,
): Promise<Intent> {
  const status = change.status ?? intent.status;
  assert(status === intent.status || canIntentBecome(intent.status, status), `no move ${intent.status} → ${status}`);
  const next: Intent = { ...intent, ...change, updatedAt: context.clock.now() };
  const touched = await updateIntent(tx, intent.status, next);
  assert(touched === 1, 'a locked intent does not change under us');
  tx.afterCommit(() => context.changes.notify(intentTopic(intent.id)));
  return next;
}
