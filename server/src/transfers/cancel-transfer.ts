import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { bookReleased } from './booking.ts';
import type { TransferContext } from './context.ts';
import { requireTransfer } from './find-transfer.ts';
import { lockTransfer } from './queries.ts';
import { changeTransfer } from './transfer-change.ts';
import { isUnsent, type Transfer } from './transfer.ts';

/** Cancels a transfer that the network cannot know of yet. Throws AppError `not_found` and `state_conflict`. */
export async function cancelTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  id: string,
): Promise<Transfer> {
  const transfer = requireTransfer(await lockTransfer(tx, merchant.id, id));
  if (transfer.kind === 'sub_account_payout') throw new AppError('state_conflict', payoutRefusal);
  if (!isUnsent(transfer)) throw new AppError('state_conflict', refusal(transfer));
  const locked = { merchant, transfer };
  await bookReleased(tx, context, locked);
  return changeTransfer(tx, context, locked, { status: 'cancelled', waitingFor: null });
}

const payoutRefusal = 'A payout of a sub-account cannot be cancelled. Wait for its outcome.';

function refusal({ status, network }: Transfer): string {
  if (status === 'cancelled') return 'This transfer has already been cancelled.';
  if (status !== 'pending') return `This transfer is ${status} and can no longer be cancelled.`;
  return `This transfer has been sent to ${network}, which may already have paid. Wait for its outcome.`;
}
