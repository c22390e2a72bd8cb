import { writeEvent } from '../events/append-event.ts';
import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Caller } from '../kit/route.ts';
import { endpointQueueKey } from './delivery.ts';
import { endpointToWire, isReceiving } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { planDeliveries } from './fan-out.ts';
import type { FanOutContext, PlannedDelivery } from './fan-out.ts';
import { getEventRow, unknownEndpoint } from './list-events.ts';
import { getEndpointForChange } from './manage-endpoints.ts';
import { insertDeliveryOnce } from './queries/deliveries.ts';
import { raiseEndpointSequence } from './queries/endpoint-health.ts';
import { listEndpointsForFanOut, shareEndpoint } from './queries/endpoints.ts';
import { listEndpointIdsOfEvent, shareEventById } from './queries/event-lists.ts';
import type { EventRow } from './queries/event-lists.ts';
import { upsertResends } from './queries/resends.ts';

/** What sending something needs: deliveries are written here and made by a worker. */
export type ResendContext = Omit<FanOutContext, 'db'>;

type Target = Pick<PlannedDelivery, 'endpointId' | 'callbackUrl'>;

/** Every state a delivery can be in: also one that waits for a later attempt is made now. */
export const allStates = ['delivered', 'failed', 'kept', 'pending'] as const;

/**
 * Sends an event again, to one endpoint or to everybody who is to have it: due now, the retry schedule from its
 * beginning. What is under way is left to end. Throws AppError `not_found`, `invalid_request` on `endpoint_id`, and
 * `state_conflict` where there is nobody to send it to.
 */
export async function resendEvent(
  tx: Transaction,
  context: ResendContext,
  merchantId: string,
  request: { id: string; endpointId?: string | undefined },
): Promise<void> {
  const event = await getEventRow(tx, merchantId, request.id, shareEventById);
  const { endpointId } = request;
  const targets =
    endpointId === undefined
      ? await everyTarget(tx, merchantId, event)
      : [await namedTarget(tx, merchantId, event, endpointId)];
  if (targets.length === 0) {
    const message = 'No enabled endpoint subscribes to this event. Enable one, or name one in endpoint_id.';
    throw new AppError('state_conflict', message);
  }
  const resends = targets.map((target) => ({ ...target, id: context.newId(), eventId: event.id }));
  for (const statement of upsertResends(merchantId, resends, { now: context.clock.now(), states: allStates })) {
    tx.send(statement);
  }
  const keys = targets.map((target) => endpointQueueKey({ ...target, merchantId }));
  tx.afterCommit(() => context.scheduleDeliveries(keys));
}

/**
 * Makes an event for this endpoint alone, whatever it subscribes to, and answers the event's id. Throws AppError
 * `not_found`, and `state_conflict` where the endpoint receives nothing.
 */
export async function sendTestEvent(
  tx: Transaction,
  context: ResendContext,
  caller: Caller,
  id: string,
): Promise<string> {
  const { merchantId, testMode } = caller;
  const endpoint = await getEndpointForChange(tx, merchantId, id);
  checkReceiving(endpoint);
  const sequence = await raiseEndpointSequence(tx, merchantId, id);
  const event = { kind: 'webhook_endpoint.test', objectId: id, record: endpointToWire(endpoint, testMode) } as const;
  const eventId = writeEvent(tx, context, { ...event, merchantId, sequence, callbackUrl: null });
  const createdAt = context.clock.now();
  const target = { endpointId: id, callbackUrl: null, status: 'pending', nextAttemptAt: createdAt } as const;
  tx.send(insertDeliveryOnce({ ...target, merchantId, id: context.newId(), eventId, createdAt }));
  tx.afterCommit(() => context.scheduleDeliveries([endpointQueueKey({ merchantId, endpointId: id })]));
  return eventId;
}

/** Throws AppError `state_conflict` where nothing is sent to the endpoint. */
export function checkReceiving(endpoint: Endpoint): void {
  if (isReceiving(endpoint)) return;
  const message =
    endpoint.url === null
      ? 'This endpoint has no URL. Set its url first.'
      : 'This endpoint is disabled. Set its status to enabled first.';
  throw new AppError('state_conflict', message);
}

async function namedTarget(tx: Transaction, merchantId: string, event: EventRow, endpointId: string): Promise<Target> {
  const endpoint = isUuid(endpointId) ? await shareEndpoint(tx, merchantId, endpointId) : undefined;
  if (!endpoint) throw unknownEndpoint();
  checkReceiving(endpoint);
  if (!mayHave(event, endpoint)) {
    const message = 'This is the test event of another endpoint. Send this one its own at /test.';
    throw new AppError('state_conflict', message);
  }
  return { endpointId, callbackUrl: null };
}

/** Who subscribes today or has had it, and the callback address; nobody who is off. */
async function everyTarget(tx: Transaction, merchantId: string, event: EventRow): Promise<Target[]> {
  // None of them is held: of one that is switched off meanwhile a worker keeps what it would have been sent.
  const endpoints = await listEndpointsForFanOut(tx, merchantId);
  const planned = planDeliveries(event, endpoints).filter(({ status }) => status === 'pending');
  const subscribed = planned.filter(({ callbackUrl }) => callbackUrl === null).map(({ endpointId }) => endpointId);
  const endpointIds = new Set([...subscribed, ...(await listEndpointIdsOfEvent(tx, merchantId, event.id))]);
  const receiving = endpoints.filter(
    (endpoint) => endpointIds.has(endpoint.id) && isReceiving(endpoint) && mayHave(event, endpoint),
  );
  return [
    ...receiving.map(({ id }) => ({ endpointId: id, callbackUrl: null })),
    ...planned.filter(({ callbackUrl }) => callbackUrl !== null),
  ];
}

/** A test event is for the endpoint that it tests. */
function mayHave(event: EventRow, endpoint: Endpoint): boolean {
  return event.kind !== 'webhook_endpoint.test' || event.objectId === endpoint.id;
}
