import { enqueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import type { Failure, NetworkHandles, UnavailableReason, PayoutResponse } from '../networks/contract.ts';
import { applyReversal } from './apply-reversal.ts';
import { applySuccess, openTransferCase } from './apply-success.ts';
import { bookReleased } from './booking.ts';
import type { TransferContext } from './context.ts';
import type { Rail } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';
import { lookUpWork, sendWork, type LockedTransfer, type Transfer } from './transfer.ts';

// Where there is no circuit breaker: as often as an open one lets a trial through at its longest interval.
const unguardedRetryMs = 60_000;

/**
 * Applies what a network reports of a transfer: by response, look-up or callback, in any order and any number of times. Only
 * a verified success or a documented refusal moves money; everything else leaves it held.
 */
export async function applyResponse(
  context: TransferContext,
  transfer: Transfer,
  response: PayoutResponse,
): Promise<void> {
  switch (response.state) {
    case 'succeeded':
      return applySuccess(context, transfer, response.providerTransaction);
    case 'reversed':
      return applyReversal(context, transfer, response);
    case 'refused':
      return applyRefusal(context, transfer, response.failure);
    case 'processing':
      return applyAcceptance(context, transfer, response);
    case 'unknown':
    case 'not_found':
    case 'not_accepted':
    // They prove nothing by themselves; jobs.ts decides what follows.
  }
}

/**
 * The network refused, and documents that as final: the held money is released. A refusal after the network has reported a
 * success is a contradiction, which a person clears up with the network.
 */
async function applyRefusal(context: TransferContext, transfer: Transfer, failure: Failure): Promise<void> {
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const current = locked.transfer;
    if (current.status === 'completed' || current.review === 'amount_mismatch') {
      const summary = `${current.network} now refuses a transfer that it had paid: ${failure.reason}`;
      const about = { ...current, transactionId: '' };
      await openTransferCase(tx, context, current, about, { kind: 'contradictory_outcome', summary });
      return;
    }
    // A network can refuse only what it was sent.
    if (current.status !== 'pending' || current.progress === 'created') return;
    await bookReleased(tx, context, locked);
    noteTransfer(tx, context, current, 'released', `${moneyText(current)} and the fee were released.`);
    await changeTransfer(tx, context, locked, {
      status: 'failed',
      progress: 'final',
      waitingFor: null,
      review: null,
      failureCode: failure.code,
      failureReason: failure.reason,
    });
  });
}

/** The network knows of the transfer: from now on "not found" is a contradiction, never a reason to send it again. */
async function applyAcceptance(
  context: TransferContext,
  transfer: Transfer,
  { networkReference, handles: networkHandles }: { networkReference: string; handles: NetworkHandles },
): Promise<void> {
  if (transfer.networkReference === networkReference) return;
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const { merchant, transfer: current } = locked;
    if (current.status !== 'pending' || current.networkReference !== null) return;
    noteTransfer(tx, context, transfer, 'accepted_by_network', 'The network has accepted it and is paying.');
    // It had reported "not accepted", and has the transfer all the same: only its response ends it, so it is looked up.
    const isUnsent = current.progress === 'created';
    if (isUnsent) enqueue(tx, context, lookUpWork(merchant, current));
    const sent = isUnsent ? ({ progress: 'submitted', sentAt: context.clock.now(), waitingFor: null } as const) : {};
    await changeTransfer(tx, context, locked, { networkReference, networkHandles, ...sent });
  });
}

/**
 * The network documents that it did nothing. Only for the first call does that prove that nothing was paid: after another one,
 * whose response was lost, the outcome is still to be looked up.
 */
export async function applyNotAccepted(
  context: TransferContext,
  { breakers }: Pick<Rail, 'breakers'>,
  transfer: Transfer,
  reason: UnavailableReason,
): Promise<void> {
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    if (!isUnpaid(locked.transfer, transfer)) return;
    // A circuit breaker that has opened decides itself when the transfer is sent.
    await returnToQueue(tx, context, locked, { reason, delayMs: breakers ? 0 : unguardedRetryMs });
  });
}

/** Whether a network that says so proves it: it had one call, or says how the payout has ended in the batch that it took. */
function isUnpaid(current: Transfer, seen: Transfer): boolean {
  if (current.status !== 'pending' || current.progress !== 'submitted' || current.sends !== seen.sends) return false;
  if (current.networkReference !== seen.networkReference) return false;
  return current.networkReference === null ? current.sends === 1n : current.batchReference !== null;
}

/** The network has done nothing with it, so it is as if it had not been sent; `reason` is null where it can be sent at once. */
export async function returnToQueue(
  tx: Transaction,
  context: TransferContext,
  locked: LockedTransfer,
  { reason, delayMs }: { reason: UnavailableReason | null; delayMs: number },
): Promise<void> {
  const { merchant, transfer } = locked;
  const sentence =
    reason === null ? 'The network refused the batch. The transfer is sent alone.' : waitingSentence(reason);
  noteTransfer(tx, context, transfer, 'waiting', sentence);
  const unsent = { progress: 'created', sends: 0n, sentAt: null, batchReference: null } as const;
  const unlinked = { networkReference: null, networkHandles: null } as const;
  await changeTransfer(tx, context, locked, { ...unsent, ...unlinked, waitingFor: reason });
  enqueue(tx, context, { ...sendWork(merchant, transfer), dueAt: addMs(context.clock.now(), delayMs) });
}

/** A circuit breaker is open: the transfer waits with its money held, and can still be cancelled. */
export async function markWaiting(
  context: TransferContext,
  transfer: Transfer,
  reason: UnavailableReason,
): Promise<void> {
  if (transfer.waitingFor === reason) return;
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    if (locked.transfer.status !== 'pending' || locked.transfer.progress !== 'created') return;
    noteTransfer(tx, context, transfer, 'waiting', waitingSentence(reason));
    await changeTransfer(tx, context, locked, { waitingFor: reason });
  });
}

function waitingSentence(reason: UnavailableReason): string {
  switch (reason) {
    case 'network_unavailable':
      return 'The network accepts no payouts at the moment. The transfer is sent once the network is available again.';
    case 'float_empty':
      return 'Our account at the network has too little money. The transfer is sent once the account is funded again.';
  }
}
