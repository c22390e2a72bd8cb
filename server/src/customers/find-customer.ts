import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { Customer, CustomerContext } from './customer.ts';
import {
  countCustomers,
  findCustomerById,
  listCustomerRows,
  lockCustomerForChange,
  lockCustomerForDeletion,
} from './queries.ts';

/** Throws AppError `not_found`, also for another merchant's and the other environment's, and for a deleted one. */
export async function getCustomer(db: Queryable, merchantId: string, id: string): Promise<Customer> {
  return found(isUuid(id) ? await findCustomerById(db, merchantId, id) : undefined);
}

/** The same, and neither changed nor deleted by anybody else before the transaction ends. */
export async function getCustomerForChange(tx: Transaction, merchantId: string, id: string): Promise<Customer> {
  return found(isUuid(id) ? await lockCustomerForChange(tx, merchantId, id) : undefined);
}

/** The same, and no payment names it meanwhile. */
export async function getCustomerForDeletion(tx: Transaction, merchantId: string, id: string): Promise<Customer> {
  return found(isUuid(id) ? await lockCustomerForDeletion(tx, merchantId, id) : undefined);
}

/** Newest first. Nothing is remembered of how many there are: customers can be deleted. */
export function listCustomers(
  context: Pick<CustomerContext, 'db' | 'searches'>,
  merchantId: string,
  page: PageRequest,
  term: string | undefined,
): Promise<Listed<Customer>> {
  const { db } = context;
  return listed(context, merchantId, term, {
    rows: () => listCustomerRows(db, merchantId, term, { ...page, rowsMax: page.limit + 1 }),
    total: () => countCustomers(db, merchantId, term, totalMax + 1),
  });
}

function found(customer: Customer | undefined): Customer {
  if (customer) return customer;
  throw new AppError('not_found', 'There is no customer with this id in this environment.');
}
