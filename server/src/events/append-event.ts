import type { Transaction } from '../kit/db.ts';
import { enqueue } from './outbox.ts';
import type { WorkContext } from './outbox.ts';
import { insertEvent } from './queries.ts';
import type { NewEvent } from './event.ts';

/** Writes an event and the work that delivers it, in the transaction of the change: neither exists without the other. */
export function appendEvent(tx: Transaction, context: WorkContext, event: NewEvent): void {
  const id = writeEvent(tx, context, event);
  enqueue(tx, context, { merchantId: event.merchantId, queue: 'webhooks', kind: 'dispatch_event', subjectId: id });
}

/** Writes an event without that work and returns its id: the caller writes the deliveries. */
export function writeEvent(tx: Transaction, context: Pick<WorkContext, 'clock' | 'newId'>, event: NewEvent): string {
  const id = context.newId();
  const createdAt = context.clock.now();
  tx.send(insertEvent({ ...event, id, requestId: tx.requestId, createdAt }));
  return id;
}
