import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { PaymentLink } from './payment-link.ts';
import { findLinkRow, lockLinkForChange } from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getLink(db: Queryable, merchantId: string, id: string): Promise<PaymentLink> {
  const link = isUuid(id) ? await findLinkRow(db, merchantId, id) : undefined;
  if (link?.deletedAt !== null) throw notFound();
  return link;
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getLinkForChange(tx: Transaction, merchantId: string, id: string): Promise<PaymentLink> {
  const link = isUuid(id) ? await lockLinkForChange(tx, merchantId, id) : undefined;
  if (!link) throw notFound();
  return link;
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no payment link with this id in this environment.');
}
