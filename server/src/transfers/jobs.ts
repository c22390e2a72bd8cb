import { completeWork, completeWorkWith, enqueue, postponeWork } from '../events/outbox.ts';
import { wasEnqueuedAgain, type Work } from '../events/work.ts';
import type { WatchCall } from '../kit/adaptive-concurrency.ts';
import { addMs } from '../kit/clock.ts';
import type { ProviderNotification, PayoutResponse, UnavailableReason } from '../networks/contract.ts';
import { outcomeOfUnmatched, type NotificationOutcome } from '../networks/inbox.ts';
import { reportArrival, reportPayout } from '../networks/payout-breakers.ts';
import { earlierLookUps, nextRecheckAt, retryRecheckAt } from '../networks/recheck.ts';
import { applyNotAccepted, applyResponse } from './apply-response.ts';
import { openTransferCase } from './apply-success.ts';
import type { TransferContext } from './context.ts';
import { findTransferById, findTransferByReference } from './queries.ts';
import { connectorOf, railOf, type Rail } from './rail.ts';
import { createSender } from './send-batch.ts';
import { canSend, isAwaited, isUnchanged, outcomeOf } from './send-transfer.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import { isUnderWay, lookUpWork, recheckWork, sendWork, type Transfer } from './transfer.ts';

/** The jobs of transfers. After a crash at any point a job runs again, and finds what has been done. */
export interface TransferJobs {
  send(work: Work, watch?: WatchCall): Promise<void>;
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
    send: createSender(context),
    lookUp: (work) => lookUpTransfer(context, work),
    recheck: (work) => recheckTransfer(context, work),
    applyNotification: (railAccount, notification) => applyNotification(context, railAccount, notification),
  };
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
  if (response.state === 'not_accepted') await applyUnpaid(context, rail, transfer, response.reason);
  // Read again: a success that could not be settled leaves the transfer pending, and its look-ups go on.
  const current = await findTransferById(context.db, work.merchantId, work.subjectId);
  if (!isAwaited(current)) return completeWork(context.db, work);
  if (response.state === 'not_found') await sendAgain(context, rail, current);
  await scheduleNextLookUp(context, rail, current, work);
}

/** The batch in which it was sent did not pay it, and the network documents that as final. */
async function applyUnpaid(
  context: TransferContext,
  rail: Rail,
  transfer: Transfer,
  reason: UnavailableReason,
): Promise<void> {
  if (rail.breakers) await reportPayout(context, rail.breakers, reason);
  await applyNotAccepted(context, rail, transfer, reason);
}

/** A callback that asked for this look-up may have been about what came after the end. */
async function endLookUp(context: TransferContext, seen: Transfer | undefined, work: Work): Promise<void> {
  if (!seen || isUnderWay(seen) || !wasEnqueuedAgain(work)) return completeWork(context.db, work);
  await withLockedTransfer(context, seen, async (tx, { merchant, transfer }) => {
    enqueue(tx, context, recheckWork(merchant, transfer));
    completeWorkWith(tx, work);
  });
}

/**
 * Looks up a transfer that has ended, or of which another amount was paid: its network may have reversed it, or may contradict what it
 * had reported.
 */
async function recheckTransfer(context: TransferContext, work: Work): Promise<void> {
  const transfer = await findTransferById(context.db, work.merchantId, work.subjectId);
  // Also one that was paid after it had failed or been cancelled.
  const hasSucceeded = transfer !== undefined && transfer.networkTransactionId !== null;
  const hasEnded = transfer?.status === 'reversed' || (transfer?.status === 'cancelled' && !hasSucceeded);
  if (!transfer || isUnderWay(transfer) || hasEnded) return completeWork(context.db, work);
  const rail = await railOf(context, transfer);
  const response = await rail.lookUp({ hasSucceeded });
  const changes = hasSucceeded ? ['refused', 'reversed'] : ['succeeded', 'reversed'];
  if (changes.includes(response.state)) await applyResponse(context, transfer, response);
  const { lookUpDelaysMs, recheckAfterMs } = rail.capabilities;
  const retryAt = response.state === 'unknown' ? retryRecheckAt(work, lookUpDelaysMs, context.clock.now()) : null;
  if (retryAt !== null) return postponeWork(context.db, work, retryAt);
  if (!hasSucceeded) return completeWork(context.db, work);
  const nextAt = nextRecheckAt(recheckAfterMs, work.createdAt, context.clock.now());
  if (nextAt === null) await completeWork(context.db, work);
  else await postponeWork(context.db, work, nextAt);
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
    enqueue(tx, context, isUnderWay(transfer) ? lookUpWork(merchant, transfer) : recheckWork(merchant, transfer));
  });
}
