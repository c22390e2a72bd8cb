import type { JsonRecord } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import type { Customer } from './customer.ts';
import { emitCustomerEvent } from './customer-event.ts';
import { customerToWire } from './customer-wire.ts';
import { bucketsOf, identitiesOf } from './identities.ts';
import { findCustomerByIdentity, insertCustomer, insertIdentities, lockIdentityBuckets } from './queries.ts';

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
