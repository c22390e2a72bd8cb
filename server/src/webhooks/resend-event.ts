import { writeEvent } from '../events/append-event.ts';
import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import type { Caller } from '../api/route.ts';
import type { WebhookContext } from './context.ts';
import { endpointQueueKey } from './delivery.ts';
import { endpointToWire, isReceiving, type Endpoint } from './endpoint.ts';
import { planDeliveries, type PlannedDelivery } from './plan-deliveries.ts';
import { lockEventRow, unknownEndpoint } from './list-events.ts';
import { getEndpointForChange } from './manage-endpoints.ts';
import { insertDeliveryOnce } from './queries/deliveries.ts';
import { incrementEndpointSequence } from './queries/endpoint-health.ts';
import { listEndpointsToPlan, lockEndpointShared } from './queries/endpoints.ts';
import { listEndpointIdsOfEvent, type EventRow } from './queries/event-lists.ts';
import { upsertResends } from './queries/resends.ts';

type Context = Pick<WebhookContext, 'clock' | 'newId' | 'scheduleDeliveries'>;

type Target = Pick<PlannedDelivery, 'endpointId' | 'callbackUrl'>;

/** All states of a delivery: one that waits for a later attempt becomes due now as well. */
export const allStates = ['delivered', 'failed', 'kept', 'pending'] as const;

/**
 * Resends an event to one endpoint, or to all that are to receive it: due now, with the retry schedule from its start. An
 * attempt under way is not interrupted. Throws AppError `not_found`, `invalid_request` on `endpoint_id`, and `state_conflict`
 * where no endpoint is to receive it.
 */
export async function resendEvent(
  tx: Transaction,
  context: Context,
  merchantId: string,
  request: { id: string; endpointId?: string | undefined },
): Promise<void> {
  const event = await lockEventRow(tx, merchantId, request.id);
  const { endpointId } = request;
  const targets =
    endpointId === undefined
      ? await listTargets(tx, merchantId, event)
      : [await findTarget(tx, merchantId, event, endpointId)];
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
 * Emits an event to this endpoint alone, whatever it subscribes to, and returns the event's id. Throws AppError `not_found`,
 * and `state_conflict` where the endpoint has no URL or is disabled.
 */
export async function sendTestEvent(tx: Transaction, context: Context, caller: Caller, id: string): Promise<string> {
  const { merchantId, testMode } = caller;
  const endpoint = await getEndpointForChange(tx, merchantId, id);
  checkReceiving(endpoint);
  const sequence = await incrementEndpointSequence(tx, merchantId, id);
  const event = { kind: 'webhook_endpoint.test', objectId: id, record: endpointToWire(endpoint, testMode) } as const;
  const { id: eventId } = writeEvent(tx, context, { ...event, merchantId, sequence, callbackUrl: null });
  const createdAt = context.clock.now();
  const target = { endpointId: id, callbackUrl: null, status: 'pending', nextAttemptAt: createdAt } as const;
  tx.send(insertDeliveryOnce({ ...target, merchantId, id: context.newId(), eventId, createdAt }));
  tx.afterCommit(() => context.scheduleDeliveries([endpointQueueKey({ merchantId, endpointId: id })]));
  return eventId;
}

/** Throws AppError `state_conflict` where the endpoint has no URL or is disabled. */
export function checkReceiving(endpoint: Endpoint): void {
  if (isReceiving(endpoint)) return;
  const message =
    endpoint.url === null
      ? 'This endpoint has no URL. Set its url first.'
      : 'This endpoint is disabled. Set its status to enabled first.';
  throw new AppError('state_conflict', message);
}

async function findTarget(tx: Transaction, merchantId: string, event: EventRow, endpointId: string): Promise<Target> {
  const endpoint = isUuid(endpointId) ? await lockEndpointShared(tx, merchantId, endpointId) : undefined;
  if (!endpoint) throw unknownEndpoint();
  checkReceiving(endpoint);
  if (!canReceive(event, endpoint)) {
    const message = 'This is the test event of another endpoint. Send this one its own at /test.';
    throw new AppError('state_conflict', message);
  }
  return { endpointId: endpoint.id, callbackUrl: null };
}

/** The enabled endpoints that subscribe now or have received it, and the callback URL. */
async function listTargets(tx: Transaction, merchantId: string, event: EventRow): Promise<Target[]> {
  // Without locks: if one is disabled meanwhile, a worker marks its deliveries as kept.
  const endpoints = await listEndpointsToPlan(tx, merchantId);
  const planned = planDeliveries(event, endpoints).filter(({ status }) => status === 'pending');
  const subscribed = planned.filter(({ callbackUrl }) => callbackUrl === null).map(({ endpointId }) => endpointId);
  const endpointIds = new Set([...subscribed, ...(await listEndpointIdsOfEvent(tx, merchantId, event.id))]);
  const receiving = endpoints.filter(
    (endpoint) => endpointIds.has(endpoint.id) && isReceiving(endpoint) && canReceive(event, endpoint),
  );
  return [
    ...receiving.map(({ id }) => ({ endpointId: id, callbackUrl: null })),
    ...planned.filter(({ callbackUrl }) => callbackUrl !== null),
  ];
}

/** A test event is for its own endpoint only. */
function canReceive(event: EventRow, endpoint: Endpoint): boolean {
  return event.kind !== 'webhook_endpoint.test' || event.objectId === endpoint.id;
}
