import type { Sealer } from '../kit/seal.ts';
import type { FirstAttempts } from './delivery-planner.ts';
import type { EndpointToPlan } from './endpoint.ts';
import { openSecrets, type SecretsAt } from './endpoint-secret.ts';
import type { ClaimedDelivery } from './send-delivery.ts';

/** The deliveries under way and claimed in this process (`worker/batch-queue.ts`). */
interface DeliveriesUnderWay {
  room(key: string): number;
  add(key: string, items: readonly ClaimedDelivery[]): void;
}

/** Adds deliveries that this process has written to those that it has claimed. */
export function createFirstAttempts({ sealer }: { sealer: Sealer }, underWay: DeliveriesUnderWay): FirstAttempts {
  // Opened once for each copy of an endpoint that the planner has read.
  const opened = new WeakMap<EndpointToPlan, SecretsAt>();
  const secretsOf = (endpoint: EndpointToPlan): SecretsAt => {
    const secretsAt = opened.get(endpoint) ?? openSecrets(sealer, endpoint);
    opened.set(endpoint, secretsAt);
    return secretsAt;
  };
  return {
    room: (key) => underWay.room(key),
    send: (key, deliveries) => {
      const items = deliveries.map(({ id, endpoint, event }) => ({
        target: { ...endpoint, deleted: false },
        delivery: { ...event, id, eventId: event.id, attempt: 1n, tryNumber: 1n, callbackUrl: null },
        url: endpoint.url ?? '',
        secretsAt: secretsOf(endpoint),
      }));
      underWay.add(key, items);
    },
  };
}
