import { completeWorkWith, consumeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { assert } from '../kit/assert.ts';
import type { Transaction } from '../kit/db.ts';
import type { WebhookContext } from './context.ts';
import { endpointQueueKey } from './delivery.ts';
import type { Delivery, EventToFanOut } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { subscribes } from './enabled-events.ts';
import { insertDeliveryOnce, listEventsToFanOut } from './queries/deliveries.ts';
import { listEndpointsForFanOut } from './queries/endpoints.ts';

type Context = Pick<WebhookContext, 'db' | 'clock' | 'newId' | 'scheduleDeliveries'>;

// Some milliseconds of statements: short enough for one transaction, long enough for a burst.
const batchMax = 100;

/**
 * Turns a merchant's due outbox rows into deliveries, a batch per transaction: either all deliveries of an event are written
 * or the event is still due. Returns whether more may be due.
 */
export async function fanOutDueEvents(context: Context, merchantId: string): Promise<boolean> {
  return context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const [tasks, endpoints] = await Promise.all([
      consumeWork(tx, { merchantId, queue: 'webhooks', kind: 'dispatch_event', now, rowsMax: batchMax }),
      listEndpointsForFanOut(tx, merchantId),
    ]);
    if (tasks.length === 0) return false;
    const eventIds = tasks.map((task) => task.subjectId);
    writeDeliveries(tx, context, merchantId, await listEventsToFanOut(tx, merchantId, eventIds), endpoints);
    return tasks.length === batchMax;
  });
}

/** The same for one event whose work was claimed. Repeating it for the same event adds nothing. */
export async function fanOutEvent(context: Context, work: Work): Promise<void> {
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
  context: Context,
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
 * Plans the deliveries of an event: to every endpoint that subscribes to its kind, and to the record's callback URL, which
 * receives all events of that record. An endpoint at the callback URL that receives the event anyway receives it once. A
 * disabled endpoint's delivery is kept.
 */
export function planDeliveries(event: EventToFanOut, endpoints: readonly Endpoint[]): PlannedDelivery[] {
  const planned: PlannedDelivery[] = [];
  let isCallbackPlanned = event.callbackUrl === null;
  for (const endpoint of endpoints) {
    if (endpoint.url === null || !subscribes(endpoint.kinds, event.kind)) continue;
    const status = endpoint.status === 'enabled' ? 'pending' : 'kept';
    planned.push({ endpointId: endpoint.id, callbackUrl: null, status });
    if (event.callbackUrl !== null && isSameUrl(endpoint.url, event.callbackUrl)) isCallbackPlanned = true;
  }
  if (!isCallbackPlanned) {
    const signer = endpoints.find((endpoint) => endpoint.isDefault);
    assert(signer, 'a merchant has a default endpoint from the start');
    planned.push({ endpointId: signer.id, callbackUrl: event.callbackUrl, status: 'pending' });
  }
  return planned;
}

/** Whether two URLs are the same address, however they are written. */
function isSameUrl(one: string, other: string): boolean {
  return one === other || (URL.parse(one)?.href ?? one) === (URL.parse(other)?.href ?? other);
}
