import { openCase } from '../cases/open-case.ts';
import { completeWork, completeWorkWith, enqueue, networkQueue, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { ProviderNotification, CollectionResponse, Connector, LookUpCollection } from '../networks/contract.ts';
import type { NotificationOutcome } from '../networks/inbox.ts';
import { callbackName } from '../networks/registry.ts';
import { applyResponse } from './apply-response.ts';
import { applyRefusal } from './apply-refusal.ts';
import type { Charge } from './charge.ts';
import { noteCharge, noteChargeNow } from './charge-notes.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import type { LockedPayment } from './charge-outcome.ts';
import { connectorOf } from './connector-of.ts';
import { intentTopic } from './context.ts';
import type { PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import type { Intent } from './intent.ts';
import { findChargeById, findChargeByReference, updateChargeProgress } from './queries/charges.ts';
import { findIntentById } from './queries/intents.ts';

/** What a worker does for charges. Each job may run again at any point after a crash and finds what was done. */
export interface ChargeJobs {
  start(work: Work): Promise<void>;
  lookUp(work: Work): Promise<void>;
  cancel(work: Work): Promise<void>;
  /** News from a network's callback; the same news may come again. */
  applyNotification(connectorName: string, notification: CollectionNotification): Promise<NotificationOutcome>;
}

type CollectionNotification = Extract<ProviderNotification, { operation: 'collection' }>;

// After this a look-up needs a person; it goes on once an hour, in case the network finds its answer after all.
const giveUpAfterMs = 24 * 60 * 60 * 1_000;
const hourMs = 60 * 60 * 1_000;
const cancelAttemptsMax = 5n;

export function createChargeJobs(context: PaymentContext): ChargeJobs {
  return {
    start: (work) => startCharge(context, work),
    lookUp: (work) => lookUpCharge(context, work),
    cancel: (work) => cancelCharge(context, work),
    applyNotification: (connectorName, notification) => applyNotification(context, connectorName, notification),
  };
}

async function startCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  const intent = charge?.progress === 'created' ? await markSubmitted(context, charge, work) : null;
  if (charge && intent) await sendCharge(context, intent, charge);
  else await completeWork(context.db, work);
}

/**
 * Written before the call: from here on the network may know of the charge, so whatever happens to this process, a
 * look-up is due in place of this work and the call is never repeated blindly. Under the intent's lock, so that a
 * cancellation either comes first and nothing is sent, or finds that something was. Null when there is nothing to send.
 */
async function markSubmitted(context: PaymentContext, charge: Charge, work: Work): Promise<Intent | null> {
  const { capabilities } = await connectorOf(context, charge);
  return withLockedPayment(context, charge, async (tx, locked) => {
    if (!isUnsent(locked.charge)) return null;
    const now = context.clock.now();
    if (statusAt(locked.intent, now) !== 'processing') {
      await dropCharge(tx, context, locked);
      return null;
    }
    const { merchantId, id } = charge;
    const step = { progress: 'submitted', nextAction: null, networkReference: null, handles: null } as const;
    const touched = await updateChargeProgress(tx, ['created'], { merchantId, id, ...step, updatedAt: now });
    assert(touched === 1, 'a locked charge does not change under us');
    const dueAt = addMs(now, capabilities.callTimeoutMs + (capabilities.lookUpDelaysMs[0] ?? 0));
    const queue = networkQueue(capabilities, 'look-ups');
    enqueue(tx, context, { merchantId, queue, kind: 'look_up_charge', subjectId: id, dueAt });
    noteCharge(tx, context, charge, 'sent_to_network', `Sent to ${capabilities.displayName}.`);
    completeWorkWith(tx, work);
    return locked.intent;
  });
}

async function sendCharge(context: PaymentContext, intent: Intent, charge: Charge): Promise<void> {
  const connector = await connectorOf(context, charge);
  const response = await connector.startCollection({
    reference: charge.reference,
    amountMinor: charge.amountPaidMinor,
    currency: charge.currency,
    payerNumber: charge.accountCanonical,
    payerNumberAsSent: charge.accountNumber,
    description: await describePayment(context, intent),
    expiresAt: intent.expiresAt,
    returnUrl: `${context.settings.publicUrl()}/pay/${intent.checkoutToken}`,
    callbackUrl: `${context.settings.callbackBaseUrl()}/networks/${callbackName(connector)}/callbacks`,
  });
  await applyResponse(context, { ...charge, progress: 'submitted' }, response);
}

async function describePayment(context: PaymentContext, intent: Intent): Promise<string> {
  const merchant = await context.merchants.byId(intent.merchantId);
  return intent.title ? `${merchant?.name ?? ''}: ${intent.title}` : (merchant?.name ?? '');
}

function isUnsent(charge: Charge): boolean {
  return charge.status === 'pending' && charge.progress === 'created';
}

/** The intent ended before the network was called: nothing went out, nothing can come back. */
async function dropCharge(tx: Transaction, context: PaymentContext, locked: LockedPayment): Promise<void> {
  const failureReason = 'The payment ended before the network was asked.';
  // `created` stays: it says that there is nothing to cancel at the network either.
  const change = { status: 'cancelled', failureCode: 'cancelled', failureReason } as const;
  await changeCharge(tx, context, locked, change, null);
}

async function lookUpCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (!charge || charge.status !== 'pending') return completeWork(context.db, work);
  const connector = await connectorOf(context, charge);
  const response = await connector.lookUpCollection(handlesOf(charge));
  const settled = await applyLookUp(context, connector, { charge, sentAt: work.createdAt }, response);
  if (settled) await completeWork(context.db, work);
  else await scheduleNextLookUp(context, connector, charge, work);
}

/**
 * "No such payment" is a refusal only some time after the charge was sent (it may have waited for us before that), and
 * never from a network that had acknowledged it.
 */
async function applyLookUp(
  context: PaymentContext,
  connector: Connector,
  { charge, sentAt }: { charge: Charge; sentAt: Date },
  response: CollectionResponse,
): Promise<boolean> {
  const sinceSentMs = context.clock.now().getTime() - sentAt.getTime();
  const isFinal = charge.networkReference === null && sinceSentMs >= connector.capabilities.notFoundIsFinalAfterMs;
  if (response.state === 'not_found' && isFinal) {
    const reason = `${connector.capabilities.displayName} did not receive the payment. Nothing was taken.`;
    await applyRefusal(context, charge, { code: 'network_unavailable', reason });
    return true;
  }
  return (await applyResponse(context, charge, response)) === 'settled';
}

async function scheduleNextLookUp(
  context: PaymentContext,
  connector: Connector,
  charge: Charge,
  work: Work,
): Promise<void> {
  const now = context.clock.now();
  const isGivenUp = now.getTime() - work.createdAt.getTime() > giveUpAfterMs;
  if (isGivenUp) await openUnknownCase(context, charge, connector);
  await postponeWork(context.db, work, addMs(now, isGivenUp ? hourMs : nextDelayMs(connector, work)));
}

function nextDelayMs({ capabilities }: Connector, work: Work): number {
  const delays = capabilities.lookUpDelaysMs;
  return delays[Math.min(Number(work.attempts), delays.length - 1)] ?? hourMs;
}

/** Only when nobody waits any more: as long as the payer may pay, not having paid is nothing unknown. */
async function openUnknownCase(context: PaymentContext, charge: Charge, { capabilities }: Connector): Promise<void> {
  const intent = await findIntentById(context.db, charge.merchantId, charge.intentId);
  if (intent && statusAt(intent, context.clock.now()) === 'processing') return;
  await context.db.withTransaction((tx) =>
    openCase(tx, context, {
      merchantId: charge.merchantId,
      kind: 'outcome_unknown',
      subjectType: 'charge',
      subjectId: charge.id,
      reference: '',
      amountMinor: charge.amountPaidMinor,
      currency: charge.currency,
      summary: `${capabilities.displayName} has not said for a day whether the payer paid. Ask it with our reference.`,
    }),
  );
}

/** The intent was closed while the network may still collect: ask it to stop, or learn that it has been paid. */
async function cancelCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (!charge || !canStillCollect(charge) || (await dropUnsentCharge(context, charge))) {
    return completeWork(context.db, work);
  }
  const connector = await connectorOf(context, charge);
  await noteChargeNow(
    context.db,
    context,
    charge,
    'cancel_requested',
    `Asked ${connector.capabilities.displayName} to cancel.`,
  );
  const settled = await applyResponse(context, charge, await connector.cancelCollection(handlesOf(charge)));
  // The network may not have heard of the charge when it is cancelled in the middle of its start. Later the look-up,
  // which is due anyway, tells how it ended.
  const isEnough = settled === 'settled' || work.attempts >= cancelAttemptsMax;
  if (isEnough) await completeWork(context.db, work);
  else await postponeWork(context.db, work, addMs(context.clock.now(), nextDelayMs(connector, work)));
}

/** Also one that we have given up, when it had been sent: its network may have heard of it after all. */
function canStillCollect({ status, progress }: Charge): boolean {
  const isGivenUp = status === 'failed' || status === 'cancelled';
  return status === 'pending' || (isGivenUp && progress !== 'created');
}

async function dropUnsentCharge(context: PaymentContext, charge: Charge): Promise<boolean> {
  if (!isUnsent(charge)) return false;
  return withLockedPayment(context, charge, async (tx, locked) => {
    if (!isUnsent(locked.charge)) return false;
    await dropCharge(tx, context, locked);
    return true;
  });
}

async function applyNotification(
  context: PaymentContext,
  connectorName: string,
  notification: CollectionNotification,
): Promise<NotificationOutcome> {
  const merchant = await context.merchants.byToken(notification.reference);
  const charge = merchant && (await findChargeByReference(context.db, merchant.id, notification.reference));
  if (!charge) {
    context.log.warn('callback of an unknown charge', { network: connectorName });
    return 'unmatched';
  }
  // A network's news is about its own charges only, whatever reference it carries.
  const connector = context.networks.find(charge.network, merchant.testMode);
  if (!connector || callbackName(connector) !== connectorName) {
    context.log.warn('callback of another network’s charge', { network: connectorName, charge_id: charge.id });
    return 'unmatched';
  }
  await applyResponse(context, charge, notification.response);
  context.changes.notify(intentTopic(charge.intentId));
  return 'applied';
}

function handlesOf(charge: Charge): LookUpCollection {
  return { reference: charge.reference, handles: charge.networkHandles ?? {} };
}
