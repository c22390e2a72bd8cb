import { openCase } from '../cases/open-case.ts';
import { completeWork, enqueue, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { CallbackNews, CollectionAnswer, Connector, LookUpCollection } from '../networks/contract.ts';
import type { NewsOutcome } from '../networks/inbox.ts';
import { callbackName } from '../networks/registry.ts';
import { applyAnswer } from './apply-answer.ts';
import { applyRefusal } from './apply-refusal.ts';
import type { Charge } from './charge.ts';
import { noteCharge } from './charge-notes.ts';
import { changeCharge, withLockedPayment } from './charge-outcome.ts';
import { connectorOf } from './connector-of.ts';
import { intentTopic } from './context.ts';
import type { PaymentContext } from './context.ts';
import { statusAt } from './intent.ts';
import type { Intent } from './intent.ts';
import { findChargeById, findChargeByReference, findIntentById, updateChargeProgress } from './queries.ts';

/** What a worker does for charges. Each job may run again at any point after a crash and finds what was done. */
export interface ChargeJobs {
  start(work: Work): Promise<void>;
  lookUp(work: Work): Promise<void>;
  cancel(work: Work): Promise<void>;
  /** News from a network's callback; the same news may come again. */
  applyNews(connectorName: string, news: CallbackNews): Promise<NewsOutcome>;
}

// After this a look-up needs a person; it goes on once an hour, in case the network finds its answer after all.
const giveUpAfterMs = 24 * 60 * 60 * 1_000;
const hourMs = 60 * 60 * 1_000;

export function createChargeJobs(context: PaymentContext): ChargeJobs {
  return {
    start: (work) => startCharge(context, work),
    lookUp: (work) => lookUpCharge(context, work),
    cancel: (work) => cancelCharge(context, work),
    applyNews: (connectorName, news) => applyNews(context, connectorName, news),
  };
}

async function startCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  const intent = charge && (await findIntentById(context.db, work.merchantId, charge.intentId));
  if (charge && intent) {
    if (statusAt(intent, context.clock.now()) !== 'processing') await dropUnsentCharge(context, charge);
    else if (await markSubmitted(context, charge)) await sendCharge(context, intent, charge);
  }
  await completeWork(context.db, work);
}

/**
 * Written before the call: from here on the network may know of the charge, so whatever happens to this process, a
 * look-up is due and the call is never repeated blindly. False when somebody else has been here.
 */
async function markSubmitted(context: PaymentContext, charge: Charge): Promise<boolean> {
  const { capabilities } = await connectorOf(context, charge);
  const now = context.clock.now();
  return context.db.withTransaction(async (tx) => {
    const touched = await updateChargeProgress(tx, ['created'], {
      merchantId: charge.merchantId,
      id: charge.id,
      progress: 'submitted',
      nextAction: null,
      networkReference: null,
      handles: null,
      updatedAt: now,
    });
    if (touched === 0) return false;
    const dueAt = addMs(now, capabilities.callTimeoutMs + (capabilities.lookUpDelaysMs[0] ?? 0));
    const { merchantId, id: subjectId } = charge;
    enqueue(tx, context, { merchantId, queue: 'networks', kind: 'look_up_charge', subjectId, dueAt });
    await noteCharge(tx, context, charge, 'sent_to_network', `Sent to ${capabilities.displayName}.`);
    return true;
  });
}

async function sendCharge(context: PaymentContext, intent: Intent, charge: Charge): Promise<void> {
  const connector = await connectorOf(context, charge);
  const answer = await connector.startCollection({
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
  await applyAnswer(context, { ...charge, progress: 'submitted' }, answer);
}

async function describePayment(context: PaymentContext, intent: Intent): Promise<string> {
  const merchant = await context.merchants.byId(intent.merchantId);
  return intent.title ? `${merchant?.name ?? ''}: ${intent.title}` : (merchant?.name ?? '');
}

/** The intent ended before the network was called: nothing went out, nothing can come back. */
async function dropUnsentCharge(context: PaymentContext, charge: Charge): Promise<void> {
  if (charge.progress !== 'created') return;
  const reason = 'The payment ended before the network was asked.';
  await withLockedPayment(context, charge, async (tx, locked) => {
    if (locked.charge.status !== 'pending' || locked.charge.progress !== 'created') return;
    const change = { failureCode: 'cancelled', failureReason: reason } as const;
    await changeCharge(tx, context, locked, { status: 'cancelled', progress: 'final', ...change }, null);
  });
}

async function lookUpCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (!charge || charge.status !== 'pending') return completeWork(context.db, work);
  const connector = await connectorOf(context, charge);
  const answer = await connector.lookUpCollection(handlesOf(charge));
  const settled = await applyLookUp(context, connector, charge, answer);
  if (settled) await completeWork(context.db, work);
  else await scheduleNextLookUp(context, connector, charge, work);
}

async function applyLookUp(
  context: PaymentContext,
  connector: Connector,
  charge: Charge,
  answer: CollectionAnswer,
): Promise<boolean> {
  const sinceStartMs = context.clock.now().getTime() - charge.createdAt.getTime();
  if (answer.state === 'not_found' && sinceStartMs >= connector.capabilities.notFoundIsFinalAfterMs) {
    const reason = `${connector.capabilities.displayName} did not receive the payment. Nothing was taken.`;
    await applyRefusal(context, charge, { code: 'network_unavailable', reason });
    return true;
  }
  return (await applyAnswer(context, charge, answer)) === 'settled';
}

async function scheduleNextLookUp(
  context: PaymentContext,
  connector: Connector,
  charge: Charge,
  work: Work,
): Promise<void> {
  const now = context.clock.now();
  const givenUp = now.getTime() - charge.createdAt.getTime() > giveUpAfterMs;
  if (givenUp) await openUnknownCase(context, charge);
  const delays = connector.capabilities.lookUpDelaysMs;
  const delayMs = delays[Math.min(Number(work.attempts), delays.length - 1)] ?? hourMs;
  await postponeWork(context.db, work, addMs(now, givenUp ? hourMs : delayMs));
}

async function openUnknownCase(context: PaymentContext, charge: Charge): Promise<void> {
  await context.db.withTransaction((tx) =>
    openCase(tx, context, {
      merchantId: charge.merchantId,
      kind: 'outcome_unknown',
      subjectType: 'charge',
      subjectId: charge.id,
      reference: '',
      amountMinor: charge.amountPaidMinor,
      currency: charge.currency,
      summary: `${charge.network} has not said for a day whether the payer paid. Ask the network with our reference.`,
    }),
  );
}

/** The intent was closed while the network may still collect: ask it to stop, or learn that it has been paid. */
async function cancelCharge(context: PaymentContext, work: Work): Promise<void> {
  const charge = await findChargeById(context.db, work.merchantId, work.subjectId);
  if (charge?.status === 'pending' && charge.progress === 'created') await dropUnsentCharge(context, charge);
  else if (charge?.status === 'pending') {
    const connector = await connectorOf(context, charge);
    await noteCharge(context.db, context, charge, 'cancel_requested', 'Asked the network to cancel.');
    const answer = await connector.cancelCollection(handlesOf(charge));
    // Anything but a final answer is left to the look-up, which is due anyway.
    await applyAnswer(context, charge, answer);
  }
  await completeWork(context.db, work);
}

async function applyNews(context: PaymentContext, connectorName: string, news: CallbackNews): Promise<NewsOutcome> {
  const merchant = await context.merchants.byToken(news.reference);
  const charge = merchant && (await findChargeByReference(context.db, merchant.id, news.reference));
  if (!charge) {
    context.log.warn('callback of an unknown charge', { network: connectorName });
    return 'unmatched';
  }
  // A network's news is about its own charges only, whatever reference it carries.
  const connector = await connectorOf(context, charge);
  if (callbackName(connector) !== connectorName) return 'unmatched';
  await applyAnswer(context, charge, news.answer);
  context.changes.announce(intentTopic(charge.intentId));
  return 'applied';
}

function handlesOf(charge: Charge): LookUpCollection {
  return { reference: charge.reference, handles: charge.networkHandles ?? {} };
}
