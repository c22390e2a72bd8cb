import { appendEvent } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Transaction } from '../kit/db.ts';
import { endpointToWire } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { raiseEndpointSequence } from './queries/health.ts';

/** Tells whoever subscribes of what became of an endpoint, as it is now. Its own secret is not told. */
export async function tellOfEndpoint(
  tx: Transaction,
  context: WorkContext,
  endpoint: Endpoint,
  event: { kind: Extract<EventKind, 'webhook_endpoint.failing' | 'webhook_endpoint.disabled'>; testMode: boolean },
): Promise<void> {
  const { merchantId, id } = endpoint;
  appendEvent(tx, context, {
    merchantId,
    kind: event.kind,
    objectId: id,
    sequence: await raiseEndpointSequence(tx, merchantId, id),
    record: endpointToWire(endpoint, event.testMode),
    callbackUrl: null,
  });
}
