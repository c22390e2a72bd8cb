import { completeWork } from '../events/outbox.ts';
import type { Work } from '../events/outbox.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { planDeliveries } from './plan-deliveries.ts';
import { findEventToDispatch, insertDeliveryOnce, listEndpointsForDispatch } from './queries.ts';

export interface DispatchContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** Called after the commit when something is due to be sent. */
  wakeDelivery: (merchantId: string) => void;
}

/**
 * Writes an event's deliveries and ends the work, in one transaction: an event has all its deliveries or is still to be
 * dispatched. Run again for the same event it adds nothing.
 */
export async function dispatchEvent(context: DispatchContext, work: Work): Promise<void> {
  const { merchantId, subjectId: eventId } = work;
  await context.db.withTransaction(async (tx) => {
    const [event, endpoints] = await Promise.all([
      findEventToDispatch(tx, merchantId, eventId),
      listEndpointsForDispatch(tx, merchantId),
    ]);
    const planned = event ? planDeliveries(event, endpoints) : [];
    const createdAt = context.clock.now();
    for (const delivery of planned) {
      const nextAttemptAt = delivery.status === 'pending' ? createdAt : null;
      tx.send(insertDeliveryOnce({ ...delivery, merchantId, id: context.newId(), eventId, nextAttemptAt, createdAt }));
    }
    await completeWork(tx, work);
    if (planned.some((delivery) => delivery.status === 'pending')) {
      tx.afterCommit(() => context.wakeDelivery(merchantId));
    }
  });
}
