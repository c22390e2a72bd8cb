import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { bookReleased } from './booking.ts';
import type { TransferContext } from './context.ts';
import { uncountTransfer } from './limits.ts';
import { lockTransfer } from './queries.ts';
import { changeTransfer } from './transfer-change.ts';
import { isUnsent } from './transfer.ts';
import type { Transfer } from './transfer.ts';

/**
 * Takes an order back while the network cannot have heard of it; its money is free again.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function cancelTransfer(
  tx: Transaction,
  context: TransferContext,
  merchant: Merchant,
  id: string,
): Promise<Transfer> {
  const transfer = await lockTransfer(tx, merchant.id, id);
  // A refund is a record of its own, whatever it goes out by.
  if (!transfer || transfer.kind === 'refund') {
    throw new AppError('not_found', 'There is no transfer with this id in this environment.');
  }
  if (transfer.kind === 'sub_account_payout') throw new AppError('state_conflict', payoutRefusal);
  if (!isUnsent(transfer)) throw new AppError('state_conflict', refusal(transfer));
  await bookReleased(tx, context, { merchant, transfer });
  uncountTransfer(tx, transfer);
  const change = { status: 'cancelled', waitingFor: null } as const;
  return changeTransfer(tx, context, { merchant, transfer }, change);
}

const payoutRefusal = 'A payout of a sub-account cannot be cancelled. Wait for its outcome.';

function refusal({ status, network }: Transfer): string {
  if (status === 'cancelled') return 'This transfer was cancelled already.';
  if (status !== 'pending') return `This transfer is ${status} and can no longer be cancelled.`;
  return `This transfer has been sent to ${network}, which may already have paid. Wait for its outcome.`;
}
