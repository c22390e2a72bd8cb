import { AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { findTransferById } from './queries.ts';
import type { Transfer } from './transfer.ts';

export type { TransferFilter } from './queries.ts';
export {
  findTransferById,
  findTransferByReference,
  isNumberPaidBefore,
  listPending,
  listTransferRows,
  listTransfers,
  sumTransfers,
} from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findTransfer(db: Queryable, merchantId: string, id: string): Promise<Transfer> {
  return requireTransfer(await findTransferById(db, merchantId, id));
}

/** Throws AppError `not_found` also for a refund, which the API shows as a record of its own. */
export function requireTransfer(transfer: Transfer | undefined): Transfer {
  if (transfer && transfer.kind !== 'refund') return transfer;
  throw new AppError('not_found', 'There is no transfer with this id in this environment.');
}
