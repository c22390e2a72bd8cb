import { appendEvent } from '../events/append-event.ts';
import type { EventKind, JsonRecord } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Transaction } from '../kit/db.ts';
import type { Customer } from './customer.ts';

/** Tells of a change of a customer, which has raised the customer's sequence. */
export function emitCustomerEvent(
  tx: Transaction,
  context: WorkContext,
  customer: Pick<Customer, 'merchantId' | 'id' | 'eventSequence'>,
  event: { kind: Extract<EventKind, `customer.${string}`>; record: JsonRecord },
): void {
  appendEvent(tx, context, {
    ...event,
    merchantId: customer.merchantId,
    objectId: customer.id,
    sequence: customer.eventSequence,
    callbackUrl: null,
  });
}
