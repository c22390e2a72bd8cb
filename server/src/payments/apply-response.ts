import { AppError } from '../api/app-error.ts';
import { enqueue, networkQueue } from '../events/outbox.ts';
import type { NewWork } from '../events/work.ts';
import type { Transaction } from '../kit/db.ts';
import type { CollectionResponse, Failure, ProviderNotification } from '../networks/contract.ts';
import { outcomeOfUnmatched, type NotificationOutcome } from '../networks/inbox.ts';
import { applyReversal } from './apply-reversal.ts';
import { applySuccess } from './apply-success.ts';
import { endAttempt, enqueueCancellation, withLockedPayment, type LockedPayment } from './change-payment.ts';
import { holdsMoney, type Charge, type ChargeProgress } from './charge.ts';
import { noteCharge, noteChargeNow } from './charge-notes.ts';
import { connectorOf } from './connector-of.ts';
import { notifyOfIntent, type PaymentContext } from './context.ts';
import { findChargeById, findChargeByReference, updateChargeProgress } from './queries/charges.ts';

type CollectionNotification = Extract<ProviderNotification, { operation: 'collection' }>;

/** Applies what a network reported in a callback to the charge that it names. May be called again with the same report. */
export async function applyNotification(
  context: PaymentContext,
  railAccount: string,
  { reference, response }: CollectionNotification,
): Promise<NotificationOutcome> {
  const charge = await findChargeOfReference(context, reference);
  if (!charge) {
    context.log.warn('callback of an unknown charge', { network: railAccount });
    return outcomeOfUnmatched(response);
  }
  // A network reports on its own charges only, whatever reference it sends.
  const { capabilities } = await connectorOf(context, charge);
  if (capabilities.railAccount !== railAccount) {
    context.log.warn('callback of another account’s charge', { network: railAccount, charge_id: charge.id });
    return outcomeOfUnmatched(response);
  }
  if (response === null) await lookUpNow(context, charge);
  else await applyResponse(context, charge, response);
  notifyOfIntent(context, { merchantId: charge.merchantId, id: charge.intentId });
  return 'applied';
}

/** The charge that a network knows by this reference, whichever merchant's. */
export async function findChargeOfReference(
  { db, merchants }: Pick<PaymentContext, 'db' | 'merchants'>,
  reference: string,
): Promise<Charge | undefined> {
  const merchant = await merchants.byToken(reference);
  return merchant && findChargeByReference(db, merchant.id, reference);
}

/**
 * A callback that proves nothing only brings the look-up forward: of an open charge, or of one that may have changed since it ended
 * or its money was held for review. Under the payment's lock, because the hint of a reversal may come while the success is being booked.
 */
async function lookUpNow(context: PaymentContext, seen: Charge): Promise<void> {
  await withLockedPayment(context, seen, async (tx, locked) => {
    const isAwaited = locked.charge.status === 'pending' && !holdsMoney(locked.charge);
    enqueueLookUp(tx, context, { ...locked, kind: isAwaited ? 'look_up_charge' : 'recheck_charge' });
  });
}

/** Has the network asked about a charge, at `dueAt` or at once. */
export function enqueueLookUp(
  tx: Transaction,
  context: Pick<PaymentContext, 'clock' | 'notifyWorker'>,
  { merchant, charge, kind, dueAt }: LockedPayment & Pick<NewWork, 'kind' | 'dueAt'>,
): void {
  const queue = networkQueue({ network: charge.network, testMode: merchant.testMode }, 'look-ups');
  enqueue(tx, context, { merchantId: charge.merchantId, queue, kind, subjectId: charge.id, ...(dueAt && { dueAt }) });
}

/** Whether a charge's outcome is now known, or has to be looked up further. */
export type ApplyResult = 'settled' | 'open';

/**
 * Applies a network's response to a charge, whether it came from a call, a look-up or a callback, in any order and as often
 * as it is repeated. Only a verified success, a reversal or a documented refusal changes the charge's status; every other
 * response changes at most what the payer has to do next.
 */
export async function applyResponse(
  context: PaymentContext,
  charge: Charge,
  response: CollectionResponse,
): Promise<ApplyResult> {
  switch (response.state) {
    case 'succeeded':
      await applySuccess(context, charge, response.providerTransaction);
      return 'settled';
    case 'reversed':
      await applyReversal(context, charge, response);
      return 'settled';
    case 'refused':
      await applyRefusal(context, charge, response.failure);
      return 'settled';
    case 'awaiting_payer': {
      const { nextAction, networkReference, handles } = response;
      return applyProgress(context, charge, { progress: 'awaiting_payer', nextAction, networkReference, handles });
    }
    case 'processing':
      return applyProgress(context, charge, { progress: 'submitted', nextAction: null });
    case 'unknown':
      if (charge.progress !== 'unknown') await noteUnclearResponse(context, charge, response.detail);
      return applyProgress(context, charge, { progress: 'unknown', nextAction: charge.nextAction });
    case 'not_found':
      return applyProgress(context, charge, { progress: 'unknown', nextAction: null });
    case 'code_refused':
      throw new CodeRefusedError(response.attemptsLeft);
  }
}

/**
 * Ends the attempt. A refusal that comes after a success changes nothing. After one that is only inferred, `recheckAt` is when to look
 * whether the network has collected after all.
 */
export async function applyRefusal(
  context: PaymentContext,
  charge: Charge,
  failure: Failure & { recheckAt?: Date },
): Promise<void> {
  await withLockedPayment(context, charge, async (tx, locked) => {
    const { status, review, failureCode } = locked.charge;
    if (status === 'pending' && review === null) {
      await endAttempt(tx, context, locked, failure);
      if (failure.recheckAt)
        enqueueLookUp(tx, context, { ...locked, kind: 'recheck_charge', dueAt: failure.recheckAt });
    } else if (failureCode !== failure.code) {
      // The same refusal, repeated by a callback, needs no second note.
      noteCharge(tx, context, charge, 'refusal_ignored', `The network said: ${failure.reason}`);
    }
  });
}

/** The operator's log gets the detail; the merchant reads only that Dalasi looks the payment up, unless it has ended. */
async function noteUnclearResponse(context: PaymentContext, charge: Charge, detail: string): Promise<void> {
  const { displayName } = (await connectorOf(context, charge)).capabilities;
  context.log.info('a network returned no final response', { network: charge.network, charge_id: charge.id, detail });
  if (charge.progress === 'final') return;
  const sentence = `${displayName} returned no final response. Dalasi looks the payment up until it is final.`;
  await noteChargeNow(context, charge, 'no_clear_answer', sentence);
}

const openProgress: readonly ChargeProgress[] = ['created', 'submitted', 'awaiting_payer', 'unknown'];

async function applyProgress(
  context: PaymentContext,
  charge: Charge,
  step: Pick<Charge, 'progress' | 'nextAction'> &
    Partial<{ networkReference: string; handles: NonNullable<Charge['networkHandles']> }>,
): Promise<ApplyResult> {
  if (isSameStep(charge, step)) return 'open';
  const touched = await updateChargeProgress(context.db, openProgress, {
    merchantId: charge.merchantId,
    id: charge.id,
    progress: step.progress,
    nextAction: step.nextAction,
    networkReference: step.networkReference ?? null,
    handles: step.handles ?? null,
    updatedAt: context.clock.now(),
  });
  const hasEndedSince = touched === 0 && charge.status === 'pending';
  if (hasEndedSince && step.progress === 'awaiting_payer') await cancelEnded(context, charge);
  notifyOfIntent(context, { merchantId: charge.merchantId, id: charge.intentId });
  return 'open';
}

/**
 * The attempt ended while the network was slow to respond, and now it prompts the payer: it has to be cancelled there. A network that
 * cannot cancel would only say the same again.
 */
async function cancelEnded(context: PaymentContext, charge: Charge): Promise<void> {
  const current = await findChargeById(context.db, charge.merchantId, charge.id);
  if (current?.status !== 'failed' && current?.status !== 'cancelled') return;
  const { capabilities, collections } = await connectorOf(context, charge);
  if (!collections.capabilities.canCancel) return;
  await context.db.withTransaction(async (tx) => enqueueCancellation(tx, context, charge, capabilities.testMode));
}

/** A look-up that finds nothing new writes nothing. */
function isSameStep(charge: Charge, step: Pick<Charge, 'progress' | 'nextAction'>): boolean {
  return charge.progress === step.progress && JSON.stringify(charge.nextAction) === JSON.stringify(step.nextAction);
}

/** The network did not accept the payer's code. */
export class CodeRefusedError extends AppError {
  /** Null where the network does not say. */
  readonly attemptsLeft: number | null;

  constructor(attemptsLeft: number | null) {
    const tries = attemptsLeft === 1 ? 'one try is left' : `${attemptsLeft} tries are left`;
    const message = attemptsLeft === null ? 'The code is incorrect.' : `The code is incorrect; ${tries}.`;
    super('invalid_request', message, { fields: [{ path: 'code', message }] });
    this.attemptsLeft = attemptsLeft;
  }
}
