import { appendEvent } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import { cancelUnrequestedWork, cancelWork } from '../events/outbox.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferContext } from './context.ts';
import { lockTransfer, lockTransfers, subtractFromTransferDay, updateTransfer } from './queries.ts';
import { canTransferBecome, transferKinds, type Transfer, type LockedTransfer } from './transfer.ts';
import { maskedTransferToWire } from './transfer-wire.ts';

/**
 * Runs a change of a transfer in a transaction, its own or one that it shares with changes of other transfers. The transfer is
 * locked first, so that every change waits for the one before it. The merchant
 * is read before the transaction begins: a transaction that needs a second connection can deadlock the pool. A refund shares
 * none: it changes its payment too, which another change in the same transaction may have read before.
 */
export async function withLockedTransfer<Result>(
  context: TransferContext,
  { merchantId, id, kind }: Pick<Transfer, 'merchantId' | 'id' | 'kind'>,
  body: (tx: Transaction, locked: LockedTransfer) => Promise<Result>,
): Promise<Result> {
  const merchant = await context.merchants.byId(merchantId);
  assert(merchant, 'a transfer has its merchant');
  const change = async (tx: Transaction) =>
    body(tx, { merchant, transfer: await lockTransferOf(tx, { merchantId, id }) });
  if (kind === 'refund') return context.db.withTransaction(change);
  return context.sharedCommits.run(merchantId, change, { row: id });
}

/** The same over several transfers of a merchant, in the order of their ids. */
export async function withLockedTransfers<Result>(
  context: TransferContext,
  { merchantId, ids }: { merchantId: string; ids: readonly string[] },
  body: (tx: Transaction, locked: readonly LockedTransfer[]) => Promise<Result>,
): Promise<Result> {
  const merchant = await context.merchants.byId(merchantId);
  assert(merchant, 'a transfer has its merchant');
  return context.db.withTransaction(async (tx) => {
    const transfers = await lockTransfers(tx, merchantId, ids);
    return body(
      tx,
      transfers.map((transfer) => ({ merchant, transfer })),
    );
  });
}

/** The transfer as it is now, locked until the transaction ends. */
export async function lockTransferOf(
  tx: Transaction,
  { merchantId, id }: Pick<Transfer, 'merchantId' | 'id'>,
): Promise<Transfer> {
  const transfer = await lockTransfer(tx, merchantId, id);
  assert(transfer, 'a transfer stays');
  return transfer;
}

type TransferChange = Partial<
  Pick<
    Transfer,
    | 'status'
    | 'progress'
    | 'sends'
    | 'sentAt'
    | 'batchReference'
    | 'waitingFor'
    | 'networkReference'
    | 'networkTransactionId'
    | 'amountReversedMinor'
    | 'networkHandles'
    | 'failureCode'
    | 'failureReason'
    | 'review'
    | 'completedAt'
  >
>;

/**
 * Changes a transfer whose money has been booked. When it ends, or a part of a completed one is reversed, the change also
 * notifies its owner and the merchant, ends its follow-ups, and takes it out of the day's total if nothing was paid. The
 * transition is checked against the table in transfer.ts, and the statement is guarded by the current status.
 */
export async function changeTransfer(
  tx: Transaction,
  context: TransferContext,
  { merchant, transfer }: LockedTransfer,
  change: TransferChange,
): Promise<Transfer> {
  const status = change.status ?? transfer.status;
  const isAllowed = status === transfer.status || canTransferBecome(transfer.status, status);
  assert(isAllowed, `no transition ${transfer.status} → ${status}`);
  const { events, isLimited } = transferKinds[transfer.kind];
  const isPartReversed =
    transfer.status === 'completed' && status === 'completed' && change.amountReversedMinor !== undefined;
  const isOutcome = status !== 'pending' && (status !== transfer.status || isPartReversed);
  const eventKind = isOutcome ? events[isPartReversed ? 'reversed' : status] : null;
  const next: Transfer = {
    ...transfer,
    ...change,
    eventSequence: eventKind === null ? transfer.eventSequence : transfer.eventSequence + 1n,
    updatedAt: context.clock.now(),
  };
  const touched = await updateTransfer(tx, transfer.status, next);
  assert(touched === 1, 'a locked transfer does not change under us');
  if (eventKind !== null) appendTransferEvent(tx, context, merchant, next, eventKind);
  if (transfer.status === 'pending' && status !== 'pending') {
    endFollowUps(tx, next);
    if (isLimited && status !== 'completed') tx.send(subtractFromTransferDay(next));
  }
  if (status !== transfer.status) {
    const { kind, network } = next;
    const outcome = { of: kind, network, testMode: merchant.testMode, outcome: status };
    tx.afterCommit(() => context.observeOutcome?.(outcome));
  }
  if (isOutcome)
    await context.transferOwners[transfer.kind]?.changed(tx, { merchant, transfer: next, before: transfer });
  return next;
}

export function appendTransferEvent(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  transfer: Transfer,
  kind: EventKind,
): void {
  appendEvent(tx, context, {
    merchantId: merchant.id,
    kind,
    objectId: transfer.id,
    sequence: transfer.eventSequence,
    record: maskedTransferToWire(merchant, transfer),
    callbackUrl: transfer.callbackUrl,
  });
}

function endFollowUps(tx: Transaction, { merchantId, id: subjectId }: Transfer): void {
  cancelWork(tx, { merchantId, kind: 'send_transfer', subjectId });
  cancelUnrequestedWork(tx, { merchantId, kind: 'look_up_transfer', subjectId });
}
