import type { JsonRecord } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import type { Customer } from './customer.ts';
import { emitCustomerEvent } from './customer-event.ts';
import { customerToWire } from './customer-wire.ts';
import { getCustomerForChange } from './find-customer.ts';
import { identitiesOf } from './identities.ts';
import { deleteIdentities, insertIdentities, updateCustomerRow } from './queries.ts';

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
