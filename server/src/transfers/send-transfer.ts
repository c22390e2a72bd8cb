import { completeWorkWith, enqueue, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import type { WatchCall } from '../kit/adaptive-concurrency.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { SendOutcome } from '../networks/circuit-breaker.ts';
import type { PayoutBatchResponse, PayoutResponse } from '../networks/contract.ts';
import { acquirePayoutPermit, reportPayout } from '../networks/payout-breakers.ts';
import { applyNotAccepted, applyResponse, markWaiting } from './apply-response.ts';
import type { TransferContext } from './context.ts';
import type { Rail } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import { lookUpWork, type LockedTransfer, type Transfer } from './transfer.ts';

/** A pending transfer that is to be sent, as it was read, with the work of sending it. */
export interface DueTransfer {
  work: Work;
  transfer: Transfer;
  rail: Rail;
}

/** Sends a transfer alone, unless its network takes none at the moment. */
export async function sendTransfer(context: TransferContext, due: DueTransfer, watch: WatchCall): Promise<void> {
  if (!(await isPermitted(context, due))) return;
  const submitted = await markSubmitted(context, due);
  if (submitted) await callNetwork(context, due.rail, submitted, watch);
}

/** Where a circuit breaker is open, the transfer waits. */
export async function isPermitted(context: TransferContext, { work, transfer, rail }: DueTransfer): Promise<boolean> {
  const permit = rail.breakers && (await acquirePayoutPermit(context, rail.breakers));
  if (permit?.allowed !== false) return true;
  await markWaiting(context, transfer, permit.reason);
  await postponeWork(context.db, work, permit.retryAt);
  return false;
}

/** Sends what is marked as submitted, and applies the response. */
export async function callNetwork(
  context: TransferContext,
  rail: Rail,
  submitted: Transfer,
  watch: WatchCall = (send) => send(),
): Promise<void> {
  const response = await watch(rail.send, (each) => outcomeOf(each) !== 'unclear');
  if (rail.breakers) await reportPayout(context, rail.breakers, outcomeOf(response));
  if (response.state === 'not_accepted') await applyNotAccepted(context, rail, submitted, response.reason);
  else if (response.state === 'unknown') await noteUnclearResponse(context, rail, submitted, response.detail);
  else await applyResponse(context, submitted, response);
}

/** The look-up need not wait for the end of the call's time any more. */
async function noteUnclearResponse(
  context: TransferContext,
  rail: Rail,
  seen: Transfer,
  detail: string,
): Promise<void> {
  await withLockedTransfer(context, seen, async (tx, locked) => noteUnclear(tx, context, rail, { locked, detail }));
}

export function noteUnclear(
  tx: Transaction,
  context: TransferContext,
  rail: Rail,
  { locked, detail }: { locked: LockedTransfer; detail: string },
): void {
  const summary = `The network did not respond clearly (${detail}); the outcome is looked up.`;
  noteTransfer(tx, context, locked.transfer, 'no_clear_answer', summary);
  if (isAwaited(locked.transfer)) lookUpSoon(tx, context, rail, locked);
}

/** Brings the look-up forward that is due after the call's time. */
export function lookUpSoon(
  tx: Transaction,
  context: TransferContext,
  { capabilities }: Rail,
  { merchant, transfer }: LockedTransfer,
): void {
  const dueAt = addMs(context.clock.now(), capabilities.lookUpDelaysMs[0] ?? 0);
  enqueue(tx, context, { ...lookUpWork(merchant, transfer), dueAt });
}

/**
 * Written before the call: from here on the network may know of the transfer, so whatever happens to this process, a look-up
 * is due in place of this work. It holds the transfer's lock, so that a concurrent cancellation either wins, and nothing is
 * sent, or is refused. Null when there is nothing to send.
 */
async function markSubmitted(
  context: TransferContext,
  { work, transfer: seen, rail }: DueTransfer,
): Promise<Transfer | null> {
  return withLockedTransfer(context, seen, async (tx, locked) => {
    const { transfer } = locked;
    completeWorkWith(tx, work);
    return isUnchanged(transfer, seen) && canSend(context.clock.now(), rail, transfer)
      ? submit(tx, context, rail, { locked, batchReference: null })
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

export async function submit(
  tx: Transaction,
  context: TransferContext,
  { displayName, callTimeoutMs, capabilities }: Rail,
  { locked, batchReference }: { locked: LockedTransfer; batchReference: string | null },
): Promise<Transfer> {
  const { transfer } = locked;
  const now = context.clock.now();
  const dueAt = addMs(now, callTimeoutMs + (capabilities.lookUpDelaysMs[0] ?? 0));
  enqueue(tx, context, { ...lookUpWork(locked.merchant, transfer), dueAt });
  const sentence = `${displayName} did not know of it: sent again under the same reference.`;
  if (transfer.sends > 0n) noteTransfer(tx, context, transfer, 'sent_again', sentence);
  else {
    const inBatch = batchReference === null ? '' : ' in a batch';
    noteTransfer(tx, context, transfer, 'sent_to_network', `Sent to ${displayName}${inBatch}.`);
  }
  const sent = { sends: transfer.sends + 1n, sentAt: now, batchReference };
  const change = { progress: 'submitted', ...sent, waitingFor: null } as const;
  return changeTransfer(tx, context, locked, change);
}

export function outcomeOf(response: PayoutResponse | PayoutBatchResponse): SendOutcome {
  if (response.state === 'not_accepted') return response.reason;
  return response.state === 'unknown' ? 'unclear' : 'answered';
}

export function isAwaited(transfer: Transfer | undefined): transfer is Transfer {
  return transfer?.status === 'pending' && transfer.progress === 'submitted';
}
