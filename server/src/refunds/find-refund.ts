import { AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { findRefundById } from './queries.ts';
import type { Refund } from './refund.ts';

export type { RefundFilter } from './queries.ts';
export { listRefundRows, listRefunds, listRefundsOfCharge, sumRefunds } from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findRefund(db: Queryable, merchantId: string, id: string): Promise<Refund> {
  const refund = await findRefundById(db, merchantId, id);
  if (!refund) throw new AppError('not_found', 'There is no refund with this id in this environment.');
  return refund;
}
