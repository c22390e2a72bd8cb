import { completeWork, completeWorkWith, enqueue, postponeWork } from '../events/outbox.ts';
import { wasEnqueuedAgain } from '../events/work.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { ProviderNotification, PayoutResponse } from '../networks/contract.ts';
import { outcomeOfUnmatched } from '../networks/inbox.ts';
import type { NotificationOutcome } from '../networks/inbox.ts';
import { acquirePayoutPermit, reportArrival, reportPayout } from '../networks/payout-breakers.ts';
import { earlierLookUps, nextRecheckAt } from '../networks/recheck.ts';
import { applyResponse, applyNotAccepted, markWaiting } from './apply-response.ts';
import { openTransferCase } from './apply-success.ts';
import type { TransferContext } from './context.ts';
import { findTransferById, findTransferByReference } from './queries.ts';
import { connectorOf, railOf } from './rail.ts';
import type { Rail } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import { lookUpWork, recheckWork, sendWork } from './transfer.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/** The jobs of transfers. After a crash at any point a job runs again, and finds what has been done. */
export interface TransferJobs {
  send(work: Work): Promise<void>;
  lookUp(work: Work): Promise<void>;
  /** Looks whether the network has reversed a transfer that it had paid, or paid one that it had refused. */
  recheck(work: Work): Promise<void>;
  /** Applies what a network's callback reports; callbacks may be repeated. */
  applyNotification(railAccount: string, notification: PayoutNotification): Promise<NotificationOutcome>;
}

type PayoutNotification = Extract<ProviderNotification, { operation: 'payout' }>;

const hourMs = 60 * 60 * 1_000;
// A network that reports "not found" after each of them needs a person, not a sixth attempt.
const sendsMax = 5n;

export function createTransferJobs(context: TransferContext): TransferJobs {
  return {
    send: (work) => sendTransfer(context, work),
    lookUp: (work) => lookUpTransfer(context, work),
    recheck: (work) => recheckTransfer(context, work),
    applyNotification: (railAccount, notification) => applyNotification(context, railAccount, notification),
  };
}

async function sendTransfer(context: TransferContext, work: Work): Promise<void> {
  const transfer = await findTransferById(context.db, work.merchantId, work.subjectId);
  if (!transfer || transfer.status !== 'pending') return completeWork(context.db, work);
  const rail = await railOf(context, transfer);
  const permit = rail.breakers && (await acquirePayoutPermit(context, rail.breakers));
  if (permit?.allowed === false) {
    await markWaiting(context, transfer, permit.reason);
    return postponeWork(context.db, work, permit.retryAt);
  }
  const submitted = await markSubmitted(context, rail, transfer, work);
  if (!submitted) return;
  const response = await rail.send();
  if (rail.breakers) await reportPayout(context, rail.breakers, outcomeOf(response));
  if (response.state === 'not_accepted') await applyNotAccepted(context, rail, submitted, response.reason);
  else if (response.state === 'unknown') await noteUnclearResponse(context, rail, submitted, response.detail);
  else await applyResponse(context, submitted, response);
}

/** The look-up need not wait for the end of the call's time any more. */
async function noteUnclearResponse(
  context: TransferContext,
  { capabilities }: Rail,
  seen: Transfer,
  detail: string,
): Promise<void> {
  const summary = `The network did not respond clearly (${detail}); the outcome is looked up.`;
  await withLockedTransfer(context, seen, (tx, { merchant, transfer }) => {
    noteTransfer(tx, context, transfer, 'no_clear_answer', summary);
    const dueAt = addMs(context.clock.now(), capabilities.lookUpDelaysMs[0] ?? 0);
    if (isAwaited(transfer)) enqueue(tx, context, { ...lookUpWork(merchant, transfer), dueAt });
    return Promise.resolve();
  });
}

/**
 * Written before the call: from here on the network may know of the transfer, so whatever happens to this process, a look-up
 * is due in place of this work. It holds the transfer's lock, so that a concurrent cancellation either wins, and nothing is
 * sent, or is refused. Null when there is nothing to send.
 */
async function markSubmitted(
  context: TransferContext,
  rail: Rail,
  seen: Transfer,
  work: Work,
): Promise<Transfer | null> {
  return withLockedTransfer(context, seen, async (tx, locked) => {
    const { transfer } = locked;
    completeWorkWith(tx, work);
    return isUnchanged(transfer, seen) && canSend(context.clock.now(), rail, transfer)
      ? submit(tx, context, rail, locked)
      : null;
  });
}

/** False once another worker has sent it or the network has responded. */
function isUnchanged({ status, sends, networkReference }: Transfer, seen: Transfer): boolean {
  return status === 'pending' && sends === seen.sends && networkReference === null;
}

/** At once the first time; again only after the time in which the last request can still arrive. */
function canSend(now: Date, { capabilities }: Rail, { sentAt }: Transfer): boolean {
  return sentAt === null || now >= addMs(sentAt, capabilities.resendAfterMs);
}

async function submit(
  tx: Transaction,
  context: TransferContext,
  { displayName, callTimeoutMs, capabilities }: Rail,
  locked: LockedTransfer,
): Promise<Transfer> {
  const { transfer } = locked;
  const now = context.clock.now();
  const dueAt = addMs(now, callTimeoutMs + (capabilities.lookUpDelaysMs[0] ?? 0));
  enqueue(tx, context, { ...lookUpWork(locked.merchant, transfer), dueAt });
  const sentence = `${displayName} did not know of it: sent again under the same reference.`;
  if (transfer.sends > 0n) noteTransfer(tx, context, transfer, 'sent_again', sentence);
  else noteTransfer(tx, context, transfer, 'sent_to_network', `Sent to ${displayName}.`);
  const change = { progress: 'submitted', sends: transfer.sends + 1n, sentAt: now, waitingFor: null } as const;
  return changeTransfer(tx, context, locked, change);
}

function outcomeOf(response: PayoutResponse) {
  if (response.state === 'not_accepted') return response.reason;
  return response.state === 'unknown' ? 'unclear' : 'answered';
}

/** Before the response is applied: a transfer that has ended is not looked up again, and the report would be lost. */
async function reportArrivalOf(
  context: TransferContext,
  { breakers }: Rail,
  { sentAt, networkReference }: Transfer,
  response: PayoutResponse,
): Promise<void> {
  // A send that was answered has reported itself.
  if (!breakers || !sentAt || networkReference !== null) return;
  const hasArrived = response.state !== 'not_found' && outcomeOf(response) === 'answered';
  if (hasArrived) await reportArrival(context, breakers, sentAt);
}

async function lookUpTransfer(context: TransferContext, work: Work): Promise<void> {
  const transfer = await findTransferById(context.db, work.merchantId, work.subjectId);
  if (!isAwaited(transfer)) return endLookUp(context, transfer, work);
  const rail = await railOf(context, transfer);
  const response = await rail.lookUp({ earlierLookUps: earlierLookUps(work) });
  await reportArrivalOf(context, rail, transfer, response);
  await applyResponse(context, transfer, response);
  // Read again: a success that could not be settled leaves the transfer pending, and its look-ups go on.
  const current = await findTransferById(context.db, work.merchantId, work.subjectId);
  if (!isAwaited(current)) return completeWork(context.db, work);
  if (response.state === 'not_found') await sendAgain(context, rail, current);
  await scheduleNextLookUp(context, rail, current, work);
}

/** A callback that asked for this look-up may have been about what came after the end. */
async function endLookUp(context: TransferContext, seen: Transfer | undefined, work: Work): Promise<void> {
  if (!seen || seen.status === 'pending' || !wasEnqueuedAgain(work)) return completeWork(context.db, work);
  await withLockedTransfer(context, seen, async (tx, { merchant, transfer }) => {
    enqueue(tx, context, recheckWork(merchant, transfer));
    completeWorkWith(tx, work);
  });
}

/** Looks up a transfer that has ended: its network may have reversed it, or may contradict what it had reported. */
async function recheckTransfer(context: TransferContext, work: Work): Promise<void> {
  const transfer = await findTransferById(context.db, work.merchantId, work.subjectId);
  if (transfer?.status !== 'completed' && transfer?.status !== 'failed') return completeWork(context.db, work);
  const rail = await railOf(context, transfer);
  const hasSucceeded = transfer.status === 'completed';
  const response = await rail.lookUp({ hasSucceeded });
  const changes = hasSucceeded ? ['refused', 'reversed'] : ['succeeded', 'reversed'];
  if (changes.includes(response.state)) await applyResponse(context, transfer, response);
  if (!hasSucceeded) return completeWork(context.db, work);
  const nextAt = nextRecheckAt(rail.capabilities.recheckAfterMs, work.createdAt, context.clock.now());
  if (nextAt === null) await completeWork(context.db, work);
  else await postponeWork(context.db, work, nextAt);
}

function isAwaited(transfer: Transfer | undefined): transfer is Transfer {
  return transfer?.status === 'pending' && transfer.progress === 'submitted';
}

/**
 * The network does not know the transfer, and the last request can no longer arrive: it is sent again under the same reference,
 * for which the network pays once even if the request did arrive. Look-ups go on meanwhile, so that nothing depends on this.
 */
async function sendAgain(context: TransferContext, rail: Rail, seen: Transfer): Promise<void> {
  if (seen.networkReference !== null || seen.sends >= sendsMax || !canSend(context.clock.now(), rail, seen)) return;
  await withLockedTransfer(context, seen, async (tx, { merchant, transfer }) => {
    if (isUnchanged(transfer, seen)) enqueue(tx, context, sendWork(merchant, transfer));
    await Promise.resolve();
  });
}

async function scheduleNextLookUp(
  context: TransferContext,
  { capabilities }: Rail,
  transfer: Transfer,
  work: Work,
): Promise<void> {
  const now = context.clock.now();
  const { lookUpDelaysMs, giveUpAfterMs } = capabilities;
  const isUnresolved = now.getTime() - (transfer.sentAt ?? now).getTime() >= giveUpAfterMs;
  if (isUnresolved && transfer.review === null) await openUnknownCase(context, transfer);
  // Look-ups go on once an hour, in case the network finds the outcome after all.
  const delayMs = isUnresolved ? hourMs : lookUpDelaysMs[Math.min(Number(work.attempts), lookUpDelaysMs.length - 1)];
  await postponeWork(context.db, work, addMs(now, delayMs ?? hourMs));
}

async function openUnknownCase(context: TransferContext, seen: Transfer): Promise<void> {
  await withLockedTransfer(context, seen, async (tx, locked) => {
    const { transfer } = locked;
    if (transfer.status !== 'pending' || transfer.review !== null) return;
    const about = { ...transfer, transactionId: '' };
    await openTransferCase(tx, context, transfer, about, {
      kind: 'outcome_unknown',
      summary: `${transfer.network} has not reported whether it paid. Ask it about ${transfer.reference}; the money is held.`,
    });
    noteTransfer(tx, context, transfer, 'review', 'The network has not reported whether it paid. An operator asks it.');
    await changeTransfer(tx, context, locked, { review: 'outcome_unknown' });
  });
}

async function applyNotification(
  context: TransferContext,
  railAccount: string,
  notification: PayoutNotification,
): Promise<NotificationOutcome> {
  const transfer = await findTransferOfReference(context, notification.reference);
  if (!transfer) {
    context.log.warn('callback of an unknown transfer', { network: railAccount });
    return outcomeOfUnmatched(notification.response);
  }
  // A network reports on its own transfers only, whatever reference its callback carries.
  const { capabilities } = await connectorOf(context, transfer);
  if (capabilities.railAccount !== railAccount) {
    context.log.warn('callback of another account’s transfer', { network: railAccount, transfer_id: transfer.id });
    return outcomeOfUnmatched(notification.response);
  }
  const { response } = notification;
  if (response === null) {
    await lookUpNow(context, transfer);
    return 'applied';
  }
  await reportArrivalOf(context, await railOf(context, transfer), transfer, response);
  await applyResponse(context, transfer, response);
  return 'applied';
}

/** The transfer, refund or payout that a network knows by this reference, whichever merchant's. */
export async function findTransferOfReference(
  { db, merchants }: Pick<TransferContext, 'db' | 'merchants'>,
  reference: string,
): Promise<Transfer | undefined> {
  const merchant = await merchants.byToken(reference);
  return merchant && findTransferByReference(db, merchant.id, reference);
}

/** Under the transfer's lock, because the hint of a reversal may come while the success is being booked. */
async function lookUpNow(context: TransferContext, seen: Transfer): Promise<void> {
  await withLockedTransfer(context, seen, async (tx, { merchant, transfer }) => {
    const work = transfer.status === 'pending' ? lookUpWork(merchant, transfer) : recheckWork(merchant, transfer);
    enqueue(tx, context, work);
  });
}
