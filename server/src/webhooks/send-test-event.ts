import { writeEvent } from '../events/append-event.ts';
import type { Transaction } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { endpointToWire } from './endpoint.ts';
import { getEndpointForChange } from './find-endpoint.ts';
import { insertDeliveryOnce } from './queries/deliveries.ts';
import { raiseEndpointSequence } from './queries/health.ts';
import { checkReceiving } from './resend-event.ts';
import type { ResendContext } from './resend-event.ts';

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
  tx.afterCommit(() => context.wakeDelivery(merchantId));
  return eventId;
}
