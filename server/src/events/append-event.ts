import type { Transaction } from '../kit/db.ts';
import type { NewEvent, WrittenEvent } from './event.ts';
import type { WorkContext } from './outbox.ts';
import { insertEvent } from './queries.ts';

/** What writing an event needs. */
export interface EventContext extends WorkContext {
  /** Writes the event's deliveries into its transaction; `webhooks` knows to whom. */
  planDeliveries: (tx: Transaction, event: WrittenEvent) => void;
}

/** Writes an event and its deliveries, in the transaction of the change: none exists without the others. */
export function appendEvent(tx: Transaction, context: EventContext, event: NewEvent): void {
  context.planDeliveries(tx, writeEvent(tx, context, event));
}

/** Writes an event without deliveries: the caller writes them. */
export function writeEvent(
  tx: Transaction,
  context: Pick<WorkContext, 'clock' | 'newId'>,
  { record, ...event }: NewEvent,
): WrittenEvent {
  const id = context.newId();
  const createdAt = context.clock.now();
  const written = { ...event, id, requestId: tx.requestId, createdAt, recordText: JSON.stringify(record) };
  tx.send(insertEvent(written));
  return written;
}
