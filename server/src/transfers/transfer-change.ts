import { appendEvent } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import { cancelWork } from '../events/outbox.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferContext } from './context.ts';
import { lockTransfer, updateTransfer } from './queries.ts';
import { transferKinds } from './transfer-kinds.ts';
import { canTransferBecome } from './transfer.ts';
import type { Transfer, LockedTransfer } from './transfer.ts';
import { transferEventRecord } from './transfer-wire.ts';

/**
 * One transaction over a transfer, which is locked first, so that every change waits for the one before it. The
 * merchant is known before the transaction begins: asking for another connection inside one could leave all of them
 * waiting for each other.
 */
export async function withLockedTransfer<Result>(
  context: TransferContext,
  { merchantId, id }: Pick<Transfer, 'merchantId' | 'id'>,
  body: (tx: Transaction, locked: LockedTransfer) => Promise<Result>,
): Promise<Result> {
  const merchant = await context.merchants.byId(merchantId);
  assert(merchant, 'a transfer has its merchant');
  return context.db.withTransaction(async (tx) =>
    body(tx, { merchant, transfer: await lockTransferOf(tx, { merchantId, id }) }),
  );
}

/** The transfer as it is now, held until the transaction ends. */
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
 * Writes what becomes of a transfer, and when it ends, or a part of a completed one came back, tells its owner and the
 * merchant. The move is checked against the table in transfer.ts and guarded in the statement. The money has been booked.
 */
export async function changeTransfer(
  tx: Transaction,
  context: TransferContext,
  { merchant, transfer }: LockedTransfer,
  change: TransferChange,
): Promise<Transfer> {
  const status = change.status ?? transfer.status;
  const isAllowedMove = status === transfer.status || canTransferBecome(transfer.status, status);
  assert(isAllowedMove, `no move ${transfer.status} → ${status}`);
  const { kind } = transfer;
  const isPartBack = status === 'completed' && change.amountReversedMinor !== undefined;
  const isTold = status !== 'pending' && (status !== transfer.status || isPartBack);
  const eventKind = isTold ? transferKinds[kind].events[isPartBack ? 'reversed' : status] : null;
  const next: Transfer = {
    ...transfer,
    ...change,
    eventSequence: eventKind === null ? transfer.eventSequence : transfer.eventSequence + 1n,
    updatedAt: context.clock.now(),
  };
  const touched = await updateTransfer(tx, transfer.status, next);
  assert(touched === 1, 'a locked transfer does not change under us');
  if (eventKind !== null) appendTransferEvent(tx, context, merchant, next, eventKind);
  if (transfer.status === 'pending' && next.status !== 'pending') endFollowUps(tx, next);
  if (isTold) await context.transferOwners[kind]?.changed(tx, { merchant, transfer: next, before: transfer });
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
    record: transferEventRecord(merchant, transfer),
    callbackUrl: transfer.callbackUrl,
  });
}

/** Nothing is sent or looked up any more. */
function endFollowUps(tx: Transaction, { merchantId, id: subjectId }: Transfer): void {
  cancelWork(tx, { merchantId, kind: 'send_transfer', subjectId });
  cancelWork(tx, { merchantId, kind: 'look_up_transfer', subjectId });
}
