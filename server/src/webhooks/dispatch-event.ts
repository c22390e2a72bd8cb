import { completeWorkWith, takeWork } from '../events/outbox.ts';
import type { Work } from '../events/outbox.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { laneKeyOf } from './delivery.ts';
import type { EventToDispatch } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { planDeliveries } from './plan-deliveries.ts';
import { insertDeliveryOnce } from './queries/deliveries.ts';
import { listEndpointsForDispatch } from './queries/endpoints.ts';
import { listEventsToDispatch } from './queries/events.ts';

export interface DispatchContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** Called after the commit when something is due to be sent, with the lanes in which it is. */
  wakeDelivery: (merchantId: string, laneKeys: readonly string[]) => void;
}

// Some milliseconds of statements: short enough for one transaction, long enough for a burst.
const batchMax = 100;

/**
 * Dispatches what a merchant's outbox holds, a batch in one transaction: each event has all its deliveries or is still
 * to be dispatched. Answers whether more may be due.
 */
export async function dispatchDueEvents(context: DispatchContext, merchantId: string): Promise<boolean> {
  return context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const [works, endpoints] = await Promise.all([
      takeWork(tx, { merchantId, queue: 'webhooks', kind: 'dispatch_event', now, rowsMax: batchMax }),
      listEndpointsForDispatch(tx, merchantId),
    ]);
    if (works.length === 0) return false;
    const eventIds = works.map((work) => work.subjectId);
    writeDeliveries(tx, context, merchantId, await listEventsToDispatch(tx, merchantId, eventIds), endpoints);
    return works.length === batchMax;
  });
}

/** The same for one event whose work was claimed. Run again for the same event it adds nothing. */
export async function dispatchEvent(context: DispatchContext, work: Work): Promise<void> {
  const { merchantId, subjectId } = work;
  await context.db.withTransaction(async (tx) => {
    const [events, endpoints] = await Promise.all([
      listEventsToDispatch(tx, merchantId, [subjectId]),
      listEndpointsForDispatch(tx, merchantId),
    ]);
    writeDeliveries(tx, context, merchantId, events, endpoints);
    completeWorkWith(tx, work);
  });
}

function writeDeliveries(
  tx: Transaction,
  context: DispatchContext,
  merchantId: string,
  events: readonly EventToDispatch[],
  endpoints: readonly Endpoint[],
): void {
  const createdAt = context.clock.now();
  const laneKeys = new Set<string>();
  for (const event of events) {
    for (const delivery of planDeliveries(event, endpoints)) {
      const isPending = delivery.status === 'pending';
      if (isPending) laneKeys.add(laneKeyOf({ ...delivery, merchantId }));
      const nextAttemptAt = isPending ? createdAt : null;
      const id = context.newId();
      tx.send(insertDeliveryOnce({ ...delivery, merchantId, id, eventId: event.id, nextAttemptAt, createdAt }));
    }
  }
  if (laneKeys.size > 0) tx.afterCommit(() => context.wakeDelivery(merchantId, [...laneKeys]));
}
