import { appendEvent, type EventContext } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import { cancelUnrequestedWork, enqueue, networkQueue } from '../events/outbox.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { endPrompt } from '../networks/prompt-limits.ts';
import { canChargeBecome, isOpenAbandoned, type Charge, type ChargeFailureCode } from './charge.ts';
import { chargeToWire } from './charge-wire.ts';
import { notifyOfIntent, type PaymentContext } from './context.ts';
import { attemptsMax, canIntentBecome, isOpen, statusAt, type Intent } from './intent.ts';
import { listedIntentToWire } from './intent-wire.ts';
import { findChargeById, listChargesOfIntent, updateChargeOutcome } from './queries/charges.ts';
import { lockIntent, updateIntent } from './queries/intents.ts';

export interface LockedPayment {
  merchant: Merchant;
  intent: Intent;
  charge: Charge;
}

/**
 * Runs a change of a payment in a transaction, its own or one that it shares with changes of other payments. The merchant is
 * read before the transaction begins: asking for a second connection inside one could leave all transactions waiting for each other.
 */
export async function withLockedPayment<Result>(
  context: PaymentContext,
  charge: Charge,
  body: (tx: Transaction, locked: LockedPayment) => Promise<Result>,
): Promise<Result> {
  const merchant = await context.merchants.byId(charge.merchantId);
  assert(merchant, 'a charge has its merchant');
  const change = async (tx: Transaction) => body(tx, await lockPayment(tx, merchant, charge));
  return context.sharedCommits.run(merchant.id, change, { row: charge.intentId });
}

/**
 * Locks a payment until the transaction ends. The intent is locked before its charge is read, so changes of either come one
 * after the other.
 */
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
 * Changes a locked charge, with an event where `eventKind` names one. The move is checked against the table in charge.ts and
 * guarded in the statement. A charge that ends needs no look-up any more.
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
  assert(touched === 1, 'nobody else changes a locked charge');
  if (eventKind !== null) {
    appendEvent(tx, context, {
      merchantId: merchant.id,
      kind: eventKind,
      objectId: next.id,
      sequence: next.eventSequence,
      record: chargeToWire(context, merchant, intent, next),
      callbackUrl: intent.callbackUrl,
    });
  }
  if (charge.status === 'pending' && next.status !== 'pending') await endFollowUps(tx, context, merchant, next);
  tx.afterCommit(() => {
    notifyOfIntent(context, intent);
    const { network } = next;
    if (status !== charge.status) {
      context.observeOutcome?.({ of: 'payment', network, testMode: merchant.testMode, outcome: status });
    }
  });
  return next;
}

/** Cancels the look-up that was due, unless a callback asked for it: it may be about a reversal. Lets the payer's number be prompted again. */
async function endFollowUps(
  tx: Transaction,
  { clock }: Pick<PaymentContext, 'clock'>,
  merchant: Merchant,
  charge: Charge,
): Promise<void> {
  cancelUnrequestedWork(tx, { merchantId: merchant.id, kind: 'look_up_charge', subjectId: charge.id });
  if (merchant.testMode || charge.accountCanonical === null) return;
  const { network, accountCanonical: number, id: chargeId } = charge;
  await endPrompt(tx, clock, { network, number, chargeId });
}

/** Changes a locked intent, with an event where `eventKind` names one. The moves are those of the table in intent.ts. */
export async function changeIntent(
  tx: Transaction,
  context: PaymentContext,
  { merchant, intent }: Pick<LockedPayment, 'merchant' | 'intent'>,
  change: Partial<Pick<Intent, 'status' | 'late' | 'review'>>,
  eventKind: EventKind | null,
): Promise<Intent> {
  const status = change.status ?? intent.status;
  assert(status === intent.status || canIntentBecome(intent.status, status), `no move ${intent.status} → ${status}`);
  const next: Intent = {
    ...intent,
    ...change,
    eventSequence: eventKind === null ? intent.eventSequence : intent.eventSequence + 1n,
    updatedAt: context.clock.now(),
  };
  const touched = await updateIntent(tx, intent.status, next);
  assert(touched === 1, 'nobody else changes a locked intent');
  if (eventKind !== null) {
    appendEvent(tx, context, {
      merchantId: merchant.id,
      kind: eventKind,
      objectId: next.id,
      sequence: next.eventSequence,
      record: listedIntentToWire(context, merchant, next),
      callbackUrl: next.callbackUrl,
    });
  }
  tx.afterCommit(() => notifyOfIntent(context, intent));
  return next;
}

/**
 * Stores the expiry of a locked intent whose time has passed, with its event, and returns the intent as it is then. What
 * happens to it afterwards, such as a late success, follows the event that it is late against.
 */
export async function expireIfDue(
  tx: Transaction,
  context: PaymentContext,
  payment: Pick<LockedPayment, 'merchant' | 'intent'>,
): Promise<Intent> {
  const { intent } = payment;
  const isDue = isOpen(intent.status) && statusAt(intent, context.clock.now()) === 'expired';
  return isDue ? changeIntent(tx, context, payment, { status: 'expired' }, 'payment_intent.expired') : intent;
}

/**
 * Ends a pending attempt that collected nothing. The payer may try again while attempts and time are left; an abandoned
 * attempt ends alone, because the payer has left it for another one. If that has expired at its network it counts as cancelled,
 * since we asked for that, and some networks report a cancelled payment as an expired one.
 */
export async function endAttempt(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  failure: { code: ChargeFailureCode; reason: string },
): Promise<void> {
  const isAbandoned = isOpenAbandoned(locked.charge);
  const code = isAbandoned && failure.code === 'expired' ? 'cancelled' : failure.code;
  const isCancelled = code === 'cancelled';
  const change = {
    status: isCancelled ? 'cancelled' : 'failed',
    progress: 'final',
    review: null,
    failureCode: code,
    failureReason: failure.reason,
  } as const;
  await changeCharge(tx, context, locked, change, isCancelled ? null : 'charge.failed');
  if (!isAbandoned) await leaveProcessing(tx, context, locked);
}

/** Ends the current attempt before it is sent: nothing can be collected. */
export async function dropAttempt(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  failureReason: string,
): Promise<void> {
  // The progress stays `created`: there is nothing to cancel at the network.
  const change = { status: 'cancelled', failureCode: 'cancelled', failureReason } as const;
  await changeCharge(tx, context, locked, change, null);
  await leaveProcessing(tx, context, locked);
}

/** The current attempt is over, so an intent that is `processing` is no longer: it accepts another attempt, or has failed. */
async function leaveProcessing(
  tx: Transaction,
  context: PaymentContext,
  locked: Pick<LockedPayment, 'merchant' | 'intent'>,
): Promise<void> {
  const { merchant, intent } = locked;
  if (statusAt(intent, context.clock.now()) !== 'processing') return;
  const status = intent.attempts < attemptsMax ? 'requires_payment_method' : 'failed';
  await changeIntent(tx, context, locked, { status }, null);
  if (status === 'failed') await cancelOpenAttempts(tx, context, merchant, intent.id);
}

/** Has a worker cancel the open attempts of an intent at their networks: all of them, or those that `isToCancel` accepts. */
export async function cancelOpenAttempts(
  tx: Transaction,
  context: EventContext,
  { id: merchantId, testMode }: Merchant,
  intentId: string,
  isToCancel: (charge: Charge) => boolean = () => true,
): Promise<void> {
  for (const charge of await listChargesOfIntent(tx, merchantId, intentId)) {
    if (charge.status === 'pending' && isToCancel(charge)) enqueueCancellation(tx, context, charge, testMode);
  }
}

/** The worker asks the network to stop collecting, or learns that the payer has paid. */
export function enqueueCancellation(
  tx: Transaction,
  context: EventContext,
  { merchantId, id: subjectId, network }: Charge,
  testMode: boolean,
): void {
  const queue = networkQueue({ network, testMode }, 'look-ups');
  enqueue(tx, context, { merchantId, queue, kind: 'cancel_charge', subjectId });
}
