import { AppError } from '../kit/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { findTransferById } from './queries.ts';
import type { Transfer } from './transfer.ts';

export { findTransferById } from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findTransfer(db: Queryable, merchantId: string, id: string): Promise<Transfer> {
  const transfer = await findTransferById(db, merchantId, id);
  // A refund is a record of its own, whatever it goes out by.
  if (!transfer || transfer.kind === 'refund')
    throw new AppError('not_found', 'There is no transfer with this id in this environment.');
  return transfer;
}
