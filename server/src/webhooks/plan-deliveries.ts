import type { EventToDeliver } from '../events/event.ts';
import { assert } from '../kit/assert.ts';
import type { Delivery, DeliveryStatus } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { subscribes } from './enabled-events.ts';

export type PlannedDelivery = Pick<Delivery, 'endpointId' | 'callbackUrl' | 'status'>;

/** What has become of an event's delivery to an endpoint, or to its callback URL (null); undefined where it has none. */
export type StatusOfWritten = (endpointId: string | null) => DeliveryStatus | undefined;

/**
 * Plans the deliveries of an event: to every endpoint that subscribes to its kind, and to the record's callback URL, which
 * receives all events of that record. An endpoint at the callback URL that receives the event anyway receives it once, also
 * where the event is planned again after the endpoint was created, disabled or enabled. A disabled endpoint's delivery is kept.
 */
export function planDeliveries(
  event: Pick<EventToDeliver, 'kind' | 'callbackUrl'>,
  endpoints: readonly Endpoint[],
  statusOf: StatusOfWritten = () => undefined,
): PlannedDelivery[] {
  const planned: PlannedDelivery[] = [];
  let isCallbackPlanned = event.callbackUrl === null;
  for (const endpoint of endpoints) {
    if (endpoint.url === null || !subscribes(endpoint.kinds, event.kind)) continue;
    const isAtCallback = event.callbackUrl !== null && isSameUrl(endpoint.url, event.callbackUrl);
    const [own, called] = isAtCallback ? [statusOf(endpoint.id), statusOf(null)] : [];
    if (called === 'pending' || called === 'delivered') continue;
    const status = endpoint.status === 'enabled' ? 'pending' : 'kept';
    planned.push({ endpointId: endpoint.id, callbackUrl: null, status });
    const isReceived = status === 'pending' || own === 'delivered' || own === 'failed';
    if (isAtCallback && isReceived) isCallbackPlanned = true;
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
