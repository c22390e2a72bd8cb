import { appendEvent, type EventContext } from '../events/append-event.ts';
import { replaceFieldsOfEvents } from '../events/list-events.ts';
import type { EventKind, JsonRecord } from '../events/kinds.ts';
import { getterOf } from '../api/get-record.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../api/route.ts';
import { customerToWire, erasedFields } from './customer-wire.ts';
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

export { listCustomers, searchCustomers } from './queries.ts';

const notFound = 'There is no customer with this id in this environment.';

/** Throws AppError `not_found`, also for a deleted one. */
export const getCustomer = getterOf(findCustomerById, notFound);
const getCustomerForChange = getterOf(lockCustomerForChange, notFound);
const getCustomerForDeletion = getterOf(lockCustomerForDeletion, notFound);

export interface NewCustomer {
  name: string;
  email: string | null;
  phone: string | null;
  metadata: JsonRecord;
  /** Whether to return an existing customer with the same email or phone instead of creating another. */
  distinct: boolean;
}

/** Creates a customer, or with `distinct` returns the oldest existing one with the same email or phone. */
export async function createCustomer(
  tx: Transaction,
  context: EventContext,
  caller: Caller,
  request: NewCustomer,
): Promise<{ customer: Customer; isNew: boolean }> {
  const { distinct, ...fields } = request;
  const identities = identitiesOf(request);
  if (distinct && identities.length > 0) {
    const existing = await findExisting(tx, caller.merchantId, identities);
    if (existing) return { customer: existing, isNew: false };
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

/** Concurrent requests for the same person wait here until this transaction ends, and then find its customer. */
async function findExisting(
  tx: Transaction,
  merchantId: string,
  identities: readonly string[],
): Promise<Customer | undefined> {
  await tx.run(lockIdentityBuckets(merchantId, bucketsOf(identities)));
  return findCustomerByIdentity(tx, merchantId, identities);
}

/** Absent fields do not change; null removes an email address or a phone number. */
export interface CustomerChange {
  name?: string;
  email?: string | null;
  phone?: string | null;
  metadata?: JsonRecord;
}

/**
 * Existing payments keep the name, email and phone they were created with. An empty change changes nothing. Throws
 * AppError `not_found`.
 */
export async function updateCustomer(
  tx: Transaction,
  context: EventContext,
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
 * The customer answers 404 from now on. Payments keep their amounts and the customer's id; the person's details are erased from both,
 * and from the records of earlier events. Throws AppError `not_found`.
 */
export async function deleteCustomer(
  tx: Transaction,
  context: CustomerContext,
  caller: Caller,
  id: string,
): Promise<void> {
  const customer = await getCustomerForDeletion(tx, caller.merchantId, id);
  const forgotten = { ...customer, eventSequence: customer.eventSequence + 1n, updatedAt: context.clock.now() };
  tx.send(deleteIdentities(forgotten));
  tx.send(forgetCustomer(forgotten));
  // The lock makes new payments wait until the transaction ends, so none with the person's name follows.
  await context.forgetInPayments(tx, forgotten);
  await replaceFieldsOfEvents(tx, forgotten.merchantId, { objectIds: [forgotten.id], fields: erasedFields });
  emitCustomerEvent(tx, context, forgotten, { kind: 'customer.deleted', record: { id: forgotten.id } });
}

/** Emits the event of a change that has raised the customer's sequence. */
function emitCustomerEvent(
  tx: Transaction,
  context: EventContext,
  { merchantId, id, eventSequence }: Customer,
  event: { kind: Extract<EventKind, `customer.${string}`>; record: JsonRecord },
): void {
  appendEvent(tx, context, { ...event, merchantId, objectId: id, sequence: eventSequence, callbackUrl: null });
}
