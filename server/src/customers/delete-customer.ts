import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import type { CustomerContext } from './customer.ts';
import { emitCustomerEvent } from './customer-event.ts';
import { getCustomerForDeletion } from './find-customer.ts';
import { deleteIdentities, forgetCustomer } from './queries.ts';

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
