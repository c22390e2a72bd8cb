import { AppError } from '../kit/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { TransferContext } from './context.ts';
import { countTransfers, findTransferById, listTransferRows } from './queries.ts';
import type { TransferFilter } from './queries.ts';
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

export function listTransfers(
  context: TransferContext,
  merchantId: string,
  page: PageRequest,
  filter: TransferFilter,
): Promise<Listed<Transfer>> {
  const isWhole = Object.keys(filter).length === 0;
  const count = () => countTransfers(context.db, merchantId, filter, totalMax + 1);
  return listed(context, merchantId, filter.term, {
    rows: () => listTransferRows(context.db, merchantId, filter, { ...page, rowsMax: page.limit + 1 }),
    total: () => (isWhole ? context.longLists.count(`transfers:${merchantId}`, count) : count()),
  });
}
