import { AppError } from '../kit/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { RefundContext } from './context.ts';
import { countRefunds, findRefundById, listRefundRows } from './queries.ts';
import type { RefundFilter } from './queries.ts';
import type { Refund } from './refund.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's ids. */
export async function findRefund(db: Queryable, merchantId: string, id: string): Promise<Refund> {
  const refund = await findRefundById(db, merchantId, id);
  if (!refund) throw new AppError('not_found', 'There is no refund with this id in this environment.');
  return refund;
}

export function listRefunds(
  context: RefundContext,
  merchantId: string,
  page: PageRequest,
  filter: RefundFilter,
): Promise<Listed<Refund>> {
  const isWhole = Object.keys(filter).length === 0;
  const count = () => countRefunds(context.db, merchantId, filter, totalMax + 1);
  return listed(context, merchantId, filter.term, {
    rows: () => listRefundRows(context.db, merchantId, filter, { ...page, rowsMax: page.limit + 1 }),
    total: () => (isWhole ? context.longLists.count(`refunds:${merchantId}`, count) : count()),
  });
}
