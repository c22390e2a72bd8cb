import { openCase } from '../cases/open-case.ts';
import { completeWork, completeWorkWith, enqueue, networkQueue, postponeWork } from '../events/outbox.ts';
import { wasEnqueuedAgain, type Work } from '../events/work.ts';
import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { MerchantDirectory } from '../merchants/merchant-directory.ts';
import type { CollectingConnector, CollectionResponse, LookUp } from '../networks/contract.ts';
import { applyRefusal, applyResponse, type ApplyResult } from './apply-response.ts';
import { dropAttempt, withLockedPayment } from './change-payment.ts';
import { holdsMoney, isOpenAbandoned, type Charge } from './charge.ts';
import { noteCharge, noteChargeNow } from './charge-notes.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { statusAt, type Intent } from './intent.ts';
import { paymentLink } from './intent-wire.ts';
import { earlierLookUps, nextRecheckAt, retryRecheckAt } from '../networks/recheck.ts';
import { callbackUrlOf } from '../networks/registry.ts';
import { refused } from '../networks/response-values.ts';
import { countNotes } from './queries/charge-notes.ts';
import { findChargeById, listChargesOfIntent, updateChargeProgress } from './queries/charges.ts';
import { findIntentById } from './queries/intents.ts';

// What a worker does for charges. Each job may run again at any point after a crash, and finds what was done before.

// After a day a person has to ask the network; look-ups go on once an hour, in case it knows after all.
const personAfterMs = 24 * 60 * 60 * 1_000;
const hourMs = 60 * 60 * 1_000;
const cancelAttemptsMax = 5n;

/** Sends a charge to its network. */
export async function startCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (charge && isUnsent(charge)) await stopAbandoned(context, charge);
  const intent = charge?.progress === 'created' ? await markSubmitted(context, charge, work) : null;
  if (charge && intent) await sendCharge(context, intent, charge);
  else await completeWork(context.db, work);
}

/**
 * Before a new prompt is sent, each attempt that the payer left is stopped at its network once more: whoever has approved it
 * meanwhile must not be prompted again. Together, so that none waits for another, and a connector limits its calls: a network
 * that does not respond delays the new prompt for one call at most.
 */
async function stopAbandoned(context: PaymentContext, { merchantId, intentId, attempt }: Charge): Promise<void> {
  if (attempt === 1n) return;
  const charges = await listChargesOfIntent(context.db, merchantId, intentId);
  const stopping = charges.filter(isOpenAbandoned).map((abandoned) =>
    stopCollecting(context, abandoned).catch((error: unknown) => {
      context.log.error('stopping an abandoned attempt failed', error, { charge_id: abandoned.id });
    }),
  );
  await Promise.all(stopping);
}

/**
 * Runs before the call. From here on the network may know of the charge, so a look-up replaces this work: whatever happens
 * to this process, the call is never repeated. Under the payment's lock, so that a cancellation either comes first and nothing
 * is sent, or finds that something was. Returns null when there is nothing to send.
 */
async function markSubmitted(context: PaymentContext, charge: Charge, work: Work): Promise<Intent | null> {
  const { capabilities, collections } = await connectorOf(context, charge);
  return withLockedPayment(context, charge, async (tx, locked) => {
    if (!isUnsent(locked.charge)) return null;
    const now = context.clock.now();
    if (statusAt(locked.intent, now) !== 'processing' || locked.intent.review !== null) {
      await dropAttempt(tx, context, locked, refusalToSend(locked.intent));
      return null;
    }
    const { merchantId, id } = charge;
    const step = { progress: 'submitted', nextAction: null, networkReference: null, handles: null } as const;
    const touched = await updateChargeProgress(tx, ['created'], { merchantId, id, ...step, updatedAt: now });
    assert(touched === 1, 'nobody else changes a locked charge');
    const dueAt = addMs(now, capabilities.callTimeoutMs + (collections.capabilities.lookUpDelaysMs[0] ?? 0));
    const queue = networkQueue(capabilities, 'look-ups');
    enqueue(tx, context, { merchantId, queue, kind: 'look_up_charge', subjectId: id, dueAt });
    noteCharge(tx, context, charge, 'sent_to_network', `Sent to ${capabilities.displayName}.`);
    completeWorkWith(tx, work);
    return locked.intent;
  });
}

async function sendCharge(context: PaymentContext, intent: Intent, charge: Charge): Promise<void> {
  const connector = await connectorOf(context, charge);
  const response = await connector.collections.start({
    reference: charge.reference,
    amountMinor: charge.amountPaidMinor,
    currency: charge.currency,
    payerNumber: charge.accountCanonical,
    payerNumberAsSent: charge.accountNumber,
    description: await describePayment(context.merchants, intent),
    expiresAt: intent.expiresAt,
    returnUrl: paymentLink(context, intent),
    callbackUrl: callbackUrlOf(context.settings, connector),
  });
  await applyResponse(context, { ...charge, progress: 'submitted' }, response);
  if (response.state === 'unknown') await lookUpSoon(context, connector, charge);
}

/** Nothing more will come of the call, so the look-up need not wait for the end of its time. */
async function lookUpSoon(context: PaymentContext, connector: CollectingConnector, seen: Charge): Promise<void> {
  await withLockedPayment(context, seen, async (tx, { charge }) => {
    if (charge.status !== 'pending') return;
    const { merchantId, id: subjectId } = charge;
    const dueAt = addMs(context.clock.now(), connector.collections.capabilities.lookUpDelaysMs[0] ?? 0);
    const queue = networkQueue(connector.capabilities, 'look-ups');
    enqueue(tx, context, { merchantId, queue, kind: 'look_up_charge', subjectId, dueAt });
  });
}

async function describePayment(merchants: MerchantDirectory, intent: Intent): Promise<string> {
  const merchant = await merchants.byId(intent.merchantId);
  return intent.title ? `${merchant?.name ?? ''}: ${intent.title}` : (merchant?.name ?? '');
}

function isUnsent(charge: Charge): boolean {
  return charge.status === 'pending' && charge.progress === 'created';
}

/** Nobody should pay a second time while received money is under review. */
function refusalToSend({ review }: Intent): string {
  return review === null
    ? 'The payment ended before the network was called.'
    : 'Money was received for this payment before the network was called. It is under review.';
}

/** Asks the network for the outcome of a charge, and postpones the next look-up while there is none. */
export async function lookUpCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (!charge) return completeWork(context.db, work);
  const connector = await connectorOf(context, charge);
  if (charge.status !== 'pending') return endLookUp(context, connector, work);
  const response = await connector.collections.lookUp({ ...handlesOf(charge), earlierLookUps: earlierLookUps(work) });
  const settled = await applyLookUp(context, connector, { charge, sentAt: work.createdAt }, response);
  if (!settled) return scheduleNextLookUp(context, connector, charge, work);
  const mayBeReversed =
    connector.collections.capabilities.reversalsElsewhere === true && response.state === 'succeeded';
  if (mayBeReversed) await endLookUp(context, connector, work);
  else await completeWork(context.db, work);
}

/**
 * The charge has ended. A callback that asked for this look-up may have been about what came after: the charge is looked up once
 * more, as one that has ended.
 */
async function endLookUp(context: PaymentContext, { capabilities }: CollectingConnector, work: Work): Promise<void> {
  if (!wasEnqueuedAgain(work)) return completeWork(context.db, work);
  const { merchantId, subjectId } = work;
  await context.db.withTransaction(async (tx) => {
    const queue = networkQueue(capabilities, 'look-ups');
    enqueue(tx, context, { merchantId, queue, kind: 'recheck_charge', subjectId });
    completeWorkWith(tx, work);
  });
}

/**
 * Looks up a charge that has ended, or whose money is held for review: whether the network has reversed what it had collected, at the
 * times that its connector names; and when a callback says that something has changed, or the network did not know the charge, also
 * whether it collects after all: then it is stopped, and looked up until that has ended.
 */
export async function recheckCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (!charge || !canStillChange(charge)) return completeWork(context.db, work);
  const { collections } = await connectorOf(context, charge);
  const hasSucceeded = holdsMoney(charge);
  const response = await collections.lookUp({ ...handlesOf(charge), hasSucceeded });
  const hasChanged = response.state === 'reversed' || (response.state === 'succeeded' && !hasSucceeded);
  if (hasChanged) await applyResponse(context, charge, response);
  const { canCancel, lookUpDelaysMs, recheckAfterMs } = collections.capabilities;
  const isCollecting = !hasSucceeded && (response.state === 'awaiting_payer' || response.state === 'processing');
  if (isCollecting && canCancel) await stopCollecting(context, charge);
  const isOpen = isCollecting || response.state === 'unknown';
  const retryAt = isOpen ? retryRecheckAt(work, lookUpDelaysMs, context.clock.now()) : null;
  if (retryAt !== null) return postponeWork(context.db, work, retryAt);
  if (!hasSucceeded && response.state !== 'not_found') return completeWork(context.db, work);
  const afterMs = hasSucceeded ? recheckAfterMs : [collections.capabilities.notFoundIsFinalAfterMs];
  const nextAt = nextRecheckAt(afterMs, work.createdAt, context.clock.now());
  if (nextAt === null) await completeWork(context.db, work);
  else await postponeWork(context.db, work, nextAt);
}

/**
 * Returns whether the outcome is known. "No such payment" is a refusal only some time after the charge was sent, and never
 * from a network that had acknowledged it. It is looked up once more afterwards, in case it was collected after all.
 */
async function applyLookUp(
  context: PaymentContext,
  connector: CollectingConnector,
  { charge, sentAt }: { charge: Charge; sentAt: Date },
  response: CollectionResponse,
): Promise<boolean> {
  const now = context.clock.now();
  const { notFoundIsFinalAfterMs } = connector.collections.capabilities;
  const sinceSentMs = now.getTime() - sentAt.getTime();
  const isFinal = charge.networkReference === null && sinceSentMs >= notFoundIsFinalAfterMs;
  if (response.state === 'not_found' && isFinal) {
    const reason = `${connector.capabilities.displayName} did not receive the payment. Nothing was collected.`;
    // The clock of this machine may be ahead of the one that sent the charge.
    const recheckAt = addMs(now, notFoundIsFinalAfterMs);
    await applyRefusal(context, charge, { code: 'network_unavailable', reason, recheckAt });
    return true;
  }
  return (await applyResponse(context, charge, response)) === 'settled';
}

async function scheduleNextLookUp(
  context: PaymentContext,
  connector: CollectingConnector,
  charge: Charge,
  work: Work,
): Promise<void> {
  const now = context.clock.now();
  const isOverdue = now.getTime() - work.createdAt.getTime() > personAfterMs;
  if (isOverdue) await openUnknownCase(context, charge, connector);
  await postponeWork(context.db, work, addMs(now, isOverdue ? hourMs : nextDelayMs(connector, work)));
}

function nextDelayMs({ collections }: CollectingConnector, work: Work): number {
  const delays = collections.capabilities.lookUpDelaysMs;
  return delays[Math.min(Number(work.attempts), delays.length - 1)] ?? hourMs;
}

/** Under the payment's lock: a callback may have reported the outcome while the look-up was under way. */
async function openUnknownCase(
  context: PaymentContext,
  seen: Charge,
  { capabilities }: CollectingConnector,
): Promise<void> {
  await withLockedPayment(context, seen, async (tx, { intent, charge }) => {
    if (charge.status !== 'pending' || charge.review !== null || isUnderWay(context, intent, charge)) return;
    await openCase(tx, context, {
      merchantId: charge.merchantId,
      kind: 'outcome_unknown',
      subjectType: 'charge',
      subjectId: charge.id,
      reference: '',
      amountMinor: charge.amountPaidMinor,
      currency: charge.currency,
      summary: `${capabilities.displayName} has not reported for a day whether the payer paid. Ask it with our reference.`,
    });
  });
}

/**
 * While the payer may still pay by a charge, its outcome is not unknown, and its prompt is not to be cancelled. Once money was received
 * and is under review, nothing more is to be paid.
 */
function isUnderWay({ clock }: PaymentContext, intent: Intent | undefined, charge: Charge): boolean {
  if (charge.status !== 'pending' || charge.abandonedAt !== null) return false;
  return intent?.review === null && statusAt(intent, clock.now()) === 'processing';
}

/**
 * The intent ended, or the payer left the attempt, while the network may still collect: asks it to stop, or learns that the
 * payer has paid.
 */
export async function cancelCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  const intent = charge && (await findIntentById(context.db, charge.merchantId, charge.intentId));
  // Under way again if the payer went back to it after this work was claimed.
  if (!charge || !canStillCollect(charge) || isUnderWay(context, intent, charge)) return completeWork(context.db, work);
  if (await dropUnsentCharge(context, charge)) return completeWork(context.db, work);
  const connector = await connectorOf(context, charge);
  const settled = await stopCollecting(context, charge);
  // A network that is just receiving the charge may not know it yet, so a few tries are made. The look-up, which is due in
  // any case, finds out how it ended.
  const isLast = work.attempts >= cancelAttemptsMax || !connector.collections.capabilities.canCancel;
  const isEnough = settled === 'settled' || isLast;
  if (isEnough) await completeWork(context.db, work);
  else await postponeWork(context.db, work, addMs(context.clock.now(), nextDelayMs(connector, work)));
}

/** Cancels a charge at its network, or looks it up where that cannot cancel. Either finds out whether the payer has paid. */
async function stopCollecting(context: PaymentContext, charge: Charge): Promise<ApplyResult> {
  const connector = await connectorOf(context, charge);
  const { displayName } = connector.capabilities;
  if (!connector.collections.capabilities.canCancel)
    return applyResponse(context, charge, await connector.collections.lookUp(handlesOf(charge)));
  // What has ended is cancelled after each look-up that finds it open; its timeline says so once.
  const isNoted = charge.progress === 'final' && (await countNotes(context.db, charge, 'cancel_requested')) > 0;
  if (!isNoted) await noteChargeNow(context, charge, 'cancel_requested', `Asked ${displayName} to cancel.`);
  const response = await connector.collections.cancel(handlesOf(charge));
  return applyResponse(context, charge, await asExpired(context, charge, response));
}

/** A network that lets a payer pay for longer than we do reports as cancelled what has expired here. */
async function asExpired(
  context: PaymentContext,
  charge: Charge,
  response: CollectionResponse,
): Promise<CollectionResponse> {
  const isCancelled = response.state === 'refused' && response.failure.code === 'cancelled';
  if (!isCancelled || charge.abandonedAt !== null) return response;
  const intent = await findIntentById(context.db, charge.merchantId, charge.intentId);
  const hasExpired = intent !== undefined && statusAt(intent, context.clock.now()) === 'expired';
  return hasExpired ? refused('expired', 'The payment was not approved in time.') : response;
}

/** A charge that ended on our side can still be collected if it had been sent. */
function canStillCollect(charge: Charge): boolean {
  return charge.status === 'pending' || isEndedUnpaid(charge);
}

/** Whether the network can still collect a charge that has ended, or reverse it. */
function canStillChange(charge: Charge): boolean {
  return holdsMoney(charge) || isEndedUnpaid(charge);
}

function isEndedUnpaid({ status, progress }: Charge): boolean {
  return (status === 'failed' || status === 'cancelled') && progress !== 'created';
}

async function dropUnsentCharge(context: PaymentContext, charge: Charge): Promise<boolean> {
  if (!isUnsent(charge)) return false;
  return withLockedPayment(context, charge, async (tx, locked) => {
    if (!isUnsent(locked.charge)) return false;
    await dropAttempt(tx, context, locked, 'The payment ended before the network was called.');
    return true;
  });
}

function handlesOf(charge: Charge): LookUp {
  return { reference: charge.reference, handles: charge.networkHandles ?? {} };
}
