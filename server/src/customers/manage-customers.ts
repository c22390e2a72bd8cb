import type { JsonRecord } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import { AppError } from '../kit/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Caller } from '../kit/route.ts';
import { emitCustomerEvent } from './customer-event.ts';
import { customerToWire } from './customer-wire.ts';
import type { Customer, CustomerContext } from './customer.ts';
import { bucketsOf, identitiesOf } from './identities.ts';
import {
  findCustomerById,
  lockCustomerForChange,
  lockCustomerForDeletion,
  findCustomerByIdentity,
  insertCustomer,
  insertIdentities,
  lockIdentityBuckets,
  deleteIdentities,
  updateCustomerRow,
  forgetCustomer,
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

function found(customer: Customer | undefined): Customer {
  if (customer) return customer;
  throw new AppError('not_found', 'There is no customer with this id in this environment.');
}

export interface NewCustomer {
  name: string;
  email: string | null;
  phone: string | null;
  metadata: JsonRecord;
  /** Whether somebody with the same email or phone is taken instead of making another one. */
  distinct: boolean;
}

/** Makes a customer, or finds the one who is meant: the oldest of several. */
export async function createCustomer(
  tx: Transaction,
  context: WorkContext,
  caller: Caller,
  request: NewCustomer,
): Promise<{ customer: Customer; isNew: boolean }> {
  const { distinct, ...fields } = request;
  const identities = identitiesOf(request);
  if (distinct && identities.length > 0) {
    const known = await findKnown(tx, caller.merchantId, identities);
    if (known) return { customer: known, isNew: false };
  }
  const now = context.clock.now();
  const customer: Customer = {
    ...fields,
    merchantId: caller.merchantId,
    id: context.newId(),
    eventSequence: 1n,
    createdAt: now,
    updatedAt: now,
  };
  tx.send(insertCustomer(customer));
  if (identities.length > 0) tx.send(insertIdentities(customer, identities));
  emitCustomerEvent(tx, context, customer, { kind: 'customer.created', record: customerToWire(caller, customer) });
  return { customer, isNew: true };
}

/** Whoever looks for the same person at the same time waits here until this transaction ends, and then finds it. */
async function findKnown(
  tx: Transaction,
  merchantId: string,
  identities: readonly string[],
): Promise<Customer | undefined> {
  await tx.run(lockIdentityBuckets(merchantId, bucketsOf(identities)));
  return findCustomerByIdentity(tx, merchantId, identities);
}

/** What is left out stays as it is; null takes an email address or a number away. */
export interface CustomerChange {
  name?: string;
  email?: string | null;
  phone?: string | null;
  metadata?: JsonRecord;
}

/**
 * Payments that exist keep the name, email and phone they were made with. A change of nothing leaves everything as it
 * is. Throws AppError `not_found`.
 */
export async function updateCustomer(
  tx: Transaction,
  context: WorkContext,
  caller: Caller,
  request: { id: string; change: CustomerChange },
): Promise<Customer> {
  const customer = await getCustomerForChange(tx, caller.merchantId, request.id);
  if (Object.keys(request.change).length === 0) return customer;
  const changed: Customer = {
    ...customer,
    ...request.change,
    eventSequence: customer.eventSequence + 1n,
    updatedAt: context.clock.now(),
  };
  tx.send(updateCustomerRow(changed));
  if (changed.email !== customer.email || changed.phone !== customer.phone) {
    const identities = identitiesOf(changed);
    tx.send(deleteIdentities(changed));
    if (identities.length > 0) tx.send(insertIdentities(changed, identities));
  }
  emitCustomerEvent(tx, context, changed, { kind: 'customer.updated', record: customerToWire(caller, changed) });
  return changed;
}

/**
 * The customer answers 404 from now on. Payments keep their amounts and the customer's id; the person is forgotten, here
 * and there. Events that were written before are kept as long as all events. Throws AppError `not_found`.
 */
export async function deleteCustomer(
  tx: Transaction,
  context: Omit<CustomerContext, 'db' | 'lists'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const customer = await getCustomerForDeletion(tx, caller.merchantId, id);
  const forgotten = { ...customer, eventSequence: customer.eventSequence + 1n, updatedAt: context.clock.now() };
  tx.send(deleteIdentities(forgotten));
  tx.send(forgetCustomer(forgotten));
  // The lock keeps payments that are being made out until the end, so none with the person's name comes after this.
  await context.forgetInPayments(tx, forgotten);
  emitCustomerEvent(tx, context, forgotten, { kind: 'customer.deleted', record: { id: forgotten.id } });
}
