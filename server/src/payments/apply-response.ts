import { enqueue, networkQueue } from '../events/outbox.ts';
import { fieldError } from '../kit/app-error.ts';
import type { CollectionResponse } from '../networks/contract.ts';
import { applyRefusal } from './apply-refusal.ts';
import { applyReversal } from './apply-reversal.ts';
import { applySuccess } from './apply-success.ts';
import type { Charge, ChargeProgress } from './charge.ts';
import { noteChargeNow } from './charge-notes.ts';
import { connectorOf } from './connector-of.ts';
import { intentTopic } from './context.ts';
import type { PaymentContext } from './context.ts';
import { findChargeById, updateChargeProgress } from './queries/charges.ts';

/** Whether a charge's outcome is now known, or has to be looked up further. */
export type ApplyResult = 'settled' | 'open';

const underWay: readonly ChargeProgress[] = ['created', 'submitted', 'awaiting_payer', 'unknown'];

/**
 * Applies what a network said of a charge, however it was learnt: answer, look-up or callback, in any order and as
 * often as it comes. Only a verified success or a documented refusal changes the charge's status; everything else
 * changes at most what the payer is told.
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
      throw codeRefused(response.attemptsLeft);
  }
}

/** What exactly came is for the operator's log; to the merchant it matters that the network is asked again. */
async function noteUnclearResponse(context: PaymentContext, charge: Charge, detail: string): Promise<void> {
  const { displayName } = (await connectorOf(context, charge)).capabilities;
  context.log.info('a network gave no clear answer', { network: charge.network, charge_id: charge.id, detail });
  const sentence = `${displayName} gave no clear answer. It is asked again until it does.`;
  await noteChargeNow(context.db, context, charge, 'no_clear_answer', sentence);
}

async function applyProgress(
  context: PaymentContext,
  charge: Charge,
  step: Pick<Charge, 'progress' | 'nextAction'> &
    Partial<{ networkReference: string; handles: NonNullable<Charge['networkHandles']> }>,
): Promise<ApplyResult> {
  if (isSameStep(charge, step)) return 'open';
  const touched = await updateChargeProgress(context.db, underWay, {
    merchantId: charge.merchantId,
    id: charge.id,
    progress: step.progress,
    nextAction: step.nextAction,
    networkReference: step.networkReference ?? null,
    handles: step.handles ?? null,
    updatedAt: context.clock.now(),
  });
  if (touched === 0 && step.progress === 'awaiting_payer') await cancelAbandoned(context, charge);
  context.changes.notify(intentTopic(charge.intentId));
  return 'open';
}

/**
 * The network asks the payer for a charge that we have given up meanwhile, because its answer took longer than we
 * waited: it has to be told to stop, or to say that it was paid.
 */
async function cancelAbandoned(context: PaymentContext, charge: Charge): Promise<void> {
  const { merchantId, id: subjectId } = charge;
  const current = await findChargeById(context.db, merchantId, subjectId);
  if (current?.status !== 'failed' && current?.status !== 'cancelled') return;
  const { capabilities } = await connectorOf(context, charge);
  const queue = networkQueue(capabilities, 'look-ups');
  await context.db.withTransaction((tx) => {
    enqueue(tx, context, { merchantId, queue, kind: 'cancel_charge', subjectId });
    return Promise.resolve();
  });
}

/** A look-up that finds nothing new writes nothing. */
function isSameStep(charge: Charge, step: Pick<Charge, 'progress' | 'nextAction'>): boolean {
  return charge.progress === step.progress && JSON.stringify(charge.nextAction) === JSON.stringify(step.nextAction);
}

function codeRefused(attemptsLeft: number): Error {
  const tries = attemptsLeft === 1 ? 'one try is left' : `${attemptsLeft} tries are left`;
  return fieldError('invalid_request', 'code', `This code is not right; ${tries}.`);
}
