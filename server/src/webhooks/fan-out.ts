import { completeWorkWith, consumeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { endpointQueueKey } from './delivery.ts';
import type { Delivery, EventToFanOut } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { subscribes } from './enabled-events.ts';
import { isSameUrl } from './endpoint-url.ts';
import { insertDeliveryOnce, listEventsToFanOut } from './queries/deliveries.ts';
import { listEndpointsForFanOut } from './queries/endpoints.ts';

export interface FanOutContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** Called after the commit with the endpoint queues in which something is due. */
  scheduleDeliveries: (keys: readonly string[]) => void;
}

// Some milliseconds of statements: short enough for one transaction, long enough for a burst.
const batchMax = 100;

/**
 * Turns what a merchant's outbox holds into deliveries, a batch in one transaction: each event has all its deliveries or is
 * still to be fanned out. Answers whether more may be due.
 */
export async function fanOutDueEvents(context: FanOutContext, merchantId: string): Promise<boolean> {
  return context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const [works, endpoints] = await Promise.all([
      consumeWork(tx, { merchantId, queue: 'webhooks', kind: 'dispatch_event', now, rowsMax: batchMax }),
      listEndpointsForFanOut(tx, merchantId),
    ]);
    if (works.length === 0) return false;
    const eventIds = works.map((work) => work.subjectId);
    writeDeliveries(tx, context, merchantId, await listEventsToFanOut(tx, merchantId, eventIds), endpoints);
    return works.length === batchMax;
  });
}

/** The same for one event whose work was claimed. Run again for the same event it adds nothing. */
export async function fanOutEvent(context: FanOutContext, work: Work): Promise<void> {
  const { merchantId, subjectId } = work;
  await context.db.withTransaction(async (tx) => {
    const [events, endpoints] = await Promise.all([
      listEventsToFanOut(tx, merchantId, [subjectId]),
      listEndpointsForFanOut(tx, merchantId),
    ]);
    writeDeliveries(tx, context, merchantId, events, endpoints);
    completeWorkWith(tx, work);
  });
}

function writeDeliveries(
  tx: Transaction,
  context: FanOutContext,
  merchantId: string,
  events: readonly EventToFanOut[],
  endpoints: readonly Endpoint[],
): void {
  const createdAt = context.clock.now();
  const keys = new Set<string>();
  for (const event of events) {
    for (const delivery of planDeliveries(event, endpoints)) {
      const isPending = delivery.status === 'pending';
      if (isPending) keys.add(endpointQueueKey({ ...delivery, merchantId }));
      const nextAttemptAt = isPending ? createdAt : null;
      const id = context.newId();
      tx.send(insertDeliveryOnce({ ...delivery, merchantId, id, eventId: event.id, nextAttemptAt, createdAt }));
    }
  }
  if (keys.size > 0) tx.afterCommit(() => context.scheduleDeliveries([...keys]));
}

export type PlannedDelivery = Pick<Delivery, 'endpointId' | 'callbackUrl' | 'status'>;

/**
 * Who gets an event: every endpoint that subscribes to its kind, and the record's own callback address, which has no
 * subscription and gets all of that record's events. Where the callback address is the URL of an endpoint that gets
 * the event anyway, it comes once. For an endpoint that is off the event is kept.
 */
export function planDeliveries(event: EventToFanOut, endpoints: readonly Endpoint[]): PlannedDelivery[] {
  const planned: PlannedDelivery[] = [];
  let callbackServed = event.callbackUrl === null;
  for (const endpoint of endpoints) {
    if (endpoint.url === null || !subscribes(endpoint.kinds, event.kind)) continue;
    const status = endpoint.status === 'enabled' ? 'pending' : 'kept';
    planned.push({ endpointId: endpoint.id, callbackUrl: null, status });
    if (event.callbackUrl !== null && isSameUrl(endpoint.url, event.callbackUrl)) callbackServed = true;
  }
  if (!callbackServed) {
    const signer = endpoints.find((endpoint) => endpoint.isDefault);
    assert(signer, 'a merchant has a default endpoint from the start');
    planned.push({ endpointId: signer.id, callbackUrl: event.callbackUrl, status: 'pending' });
  }
  return planned;
}
