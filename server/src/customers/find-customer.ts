import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Customer } from './customer.ts';
import { findCustomerById, lockCustomerForChange, lockCustomerForDeletion } from './queries.ts';

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

function found(customer: Customer | undefined): Customer {
  if (customer) return customer;
  throw new AppError('not_found', 'There is no customer with this id in this environment.');
}
