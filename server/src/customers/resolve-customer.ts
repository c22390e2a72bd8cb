import { fieldError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { lockCustomerForPayment, type CustomerContact } from './queries.ts';

/**
 * The customer that a payment names. In a transaction it is locked against deletion until the end, so a deletion sees the
 * payment. Throws AppError `invalid_request` naming `path` for an id that this merchant does not have.
 */
export async function resolveCustomer(
  db: Queryable,
  merchantId: string,
  { id, path }: { id: string; path: string },
): Promise<CustomerContact> {
  const customer = isUuid(id) ? await lockCustomerForPayment(db, merchantId, id) : undefined;
  if (customer) return customer;
  throw fieldError('invalid_request', path, 'There is no customer with this id in this environment.');
}
