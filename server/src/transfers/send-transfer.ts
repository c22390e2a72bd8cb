import { completeWork, completeWorkWith, enqueue, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { acquirePayoutPermit, reportPayout } from '../networks/payout-breakers.ts';
import { applyNotAccepted, applyResponse, markWaiting } from './apply-response.ts';
import type { TransferContext } from './context.ts';
import { findTransferById } from './queries.ts';
import { railOf } from './rail.ts';
import type { Rail } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import { lookUpWork } from './transfer.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/** Sends a transfer, unless it has ended or its network takes none at the moment. */
export async function sendTransfer(context: TransferContext, work: Work): Promise<void> {
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
export function isUnchanged({ status, sends, networkReference }: Transfer, seen: Transfer): boolean {
  return status === 'pending' && sends === seen.sends && networkReference === null;
}

/** At once the first time; again only after the time in which the last request can still arrive. */
export function canSend(now: Date, { capabilities }: Rail, { sentAt }: Transfer): boolean {
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

export function outcomeOf(response: PayoutResponse) {
  if (response.state === 'not_accepted') return response.reason;
  return response.state === 'unknown' ? 'unclear' : 'answered';
}

export function isAwaited(transfer: Transfer | undefined): transfer is Transfer {
  return transfer?.status === 'pending' && transfer.progress === 'submitted';
}
