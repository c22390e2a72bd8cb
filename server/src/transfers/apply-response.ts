import { enqueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { NetworkHandles, UnavailableReason, PayoutResponse } from '../networks/contract.ts';
import { applyRefusal } from './apply-refusal.ts';
import { applyReversal } from './apply-reversal.ts';
import { applySuccess } from './apply-success.ts';
import type { TransferContext } from './context.ts';
import { noteTransfer } from './notes.ts';
import type { Rail } from './rail.ts';
import { lookUpWork, sendWork } from './transfer-work.ts';
import type { Transfer } from './transfer.ts';
import { changeTransfer, withLockedTransfer } from './transfer-change.ts';

// For what no circuit breaker holds back: as often as an open one tries at its most.
const unguardedRetryMs = 60_000;

/**
 * Applies what a network said of a transfer, however it was learnt: answer, look-up or callback, in any order and as
 * often as it comes. Only a verified success or a documented refusal moves money; everything else leaves it held.
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
    // Nothing is known by them alone; jobs.ts decides what follows.
  }
}

/** The network knows of it: from now on "not found" would be a contradiction, never a reason to send again. */
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
    // It had said that it took nothing, and has it all the same: now only its answer ends it, so it is asked.
    const isBack = current.progress === 'created';
    if (isBack) enqueue(tx, context, lookUpWork(merchant, current));
    const sent = isBack ? ({ progress: 'submitted', sentAt: context.clock.now(), waitingFor: null } as const) : {};
    await changeTransfer(tx, context, locked, { networkReference, networkHandles, ...sent });
  });
}

/**
 * The network documents that this call did nothing. Only the first call proves that nothing at all was done: after
 * another one, whose answer was lost, the outcome is still to be looked up.
 */
export async function applyNotAccepted(
  context: TransferContext,
  { breakers }: Pick<Rail, 'breakers'>,
  transfer: Transfer,
  reason: UnavailableReason,
): Promise<void> {
  await withLockedTransfer(context, transfer, async (tx, locked) => {
    const current = locked.transfer;
    if (current.status !== 'pending' || current.progress !== 'submitted' || current.networkReference !== null) return;
    if (current.sends !== transfer.sends || current.sends !== 1n) return;
    noteTransfer(tx, context, current, 'waiting', waitingSentence(reason));
    await changeTransfer(tx, context, locked, { progress: 'created', sends: 0n, sentAt: null, waitingFor: reason });
    // At once where a breaker has opened, which says when it may go out.
    const dueAt = addMs(context.clock.now(), breakers ? 0 : unguardedRetryMs);
    enqueue(tx, context, { ...sendWork(locked.merchant, current), dueAt });
  });
}

/** A circuit breaker is open: the order waits with its money held, and may still be cancelled. */
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
      return 'The network takes no payouts just now. It is sent as soon as the network is back.';
    case 'float_empty':
      return 'Our account at the network has too little money just now. It is sent once that is filled up.';
  }
}
