import { assert } from '../kit/assert.ts';
import type { Delivery, EventToDispatch } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { subscribes } from './enabled-events.ts';
import { isSameUrl } from './endpoint-url.ts';

export type PlannedDelivery = Pick<Delivery, 'endpointId' | 'callbackUrl' | 'status'>;

/**
 * Who gets an event: every endpoint that subscribes to its kind, and the record's own callback address, which has no
 * subscription and gets all of that record's events. Where the callback address is the URL of an endpoint that gets
 * the event anyway, it comes once. For an endpoint that is off the event is kept.
 */
export function planDeliveries(event: EventToDispatch, endpoints: readonly Endpoint[]): PlannedDelivery[] {
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
