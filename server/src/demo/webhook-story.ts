import type { OutboundClient } from '../kit/outbound-http.ts';
import type { Sealer } from '../kit/seal.ts';
import { endpointQueueKey } from '../webhooks/delivery.ts';
import { createDeliveryQueue } from '../webhooks/delivery-queue.ts';
import type { Endpoint } from '../webhooks/endpoint.ts';
import { createEndpoint, updateEndpoint } from '../webhooks/manage-endpoints.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { createBulkResendLimiter } from '../webhooks/resend-events.ts';
import { happens, wholeNumber } from './choices.ts';
import type { DemoWorld } from './demo-world.ts';

/** The receivers of the demo business; `.example` belongs to nobody. */
const receivers = [
  { url: 'https://shop.example/hooks/payments', description: 'The shop’s own website' },
  { url: 'https://bookkeeping.example/dalasi', description: 'The bookkeeping' },
  { url: 'https://loyalty.example/points', description: 'Points for customers', enabledEvents: ['charge.succeeded'] },
];

// More than a day of demo data has for one endpoint at once.
const claimMax = 32;

export type DemoWebhooks = ReturnType<typeof createDemoWebhooks>;

/** Events and their deliveries to receivers that only seem to exist: nothing is sent. The second one fails from a time on. */
export function createDemoWebhooks(world: DemoWorld, sealer: Sealer, failsFrom: Date) {
  const { money, planner, merchant, time, db } = world;
  const context: WebhookContext = {
    ...money,
    planner: {
      // Nothing else plans at the same time, so nothing has to be planned once more.
      endpointsChanged: (_tx, merchantId) => planner.forget(merchantId),
      replan: () => Promise.resolve(),
      sendFirstBy: () => {},
    },
    sealer,
    outbound: createReceivers(world, failsFrom),
    urlPolicy: money.settings.urlPolicy,
    signatureHeader: 'x-service-signature',
    bulkResends: createBulkResendLimiter(),
    mailTrouble: async () => {},
    observeAttempt: () => {},
    scheduleDeliveries: () => {},
  };
  const queue = createDeliveryQueue(context);
  const endpoints: Endpoint[] = [];
  const caller = { merchantId: merchant.id, testMode: true };
  return {
    /** Creates the endpoints. Without them, nothing is delivered. */
    begin: () =>
      db.withTransaction(async (tx) => {
        for (const receiver of receivers)
          endpoints.push((await createEndpoint(tx, context, caller, receiver)).endpoint);
      }),
    /** Delivers what is due at the story's time. */
    deliver: async () => {
      if (endpoints.length === 0) return;
      time.moveBy(wholeNumber(time.random, 80, 400));
      for (const { id: endpointId } of endpoints) {
        const key = endpointQueueKey({ merchantId: merchant.id, endpointId });
        for (const claimed of await queue.claim(key, claimMax)) {
          await queue.run(claimed, { hasBacklog: () => false, release: () => {} });
        }
      }
    },
    /** Pauses the last endpoint, for which events are retained from then on. */
    pause: () =>
      db.withTransaction(async (tx) => {
        const last = endpoints.pop();
        if (last) await updateEndpoint(tx, context, caller, { id: last.id, change: { status: 'disabled' } });
      }),
  };
}

function createReceivers({ time }: DemoWorld, failsFrom: Date): OutboundClient {
  const failing = receivers[1]?.url;
  return {
    post: ({ url }) => {
      const isDown = url === failing && time.now() >= failsFrom;
      const durationMs = wholeNumber(time.random, 35, 280);
      time.moveBy(durationMs);
      if (isDown && happens(time.random, 0.4)) {
        return Promise.resolve({ kind: 'failed', failure: 'timeout', durationMs: 15_000 });
      }
      const response = isDown ? { status: 500, excerpt: 'Internal Server Error' } : { status: 200, excerpt: 'ok' };
      return Promise.resolve({ kind: 'answered', ...response, retryAfterMs: null, durationMs });
    },
    close: () => Promise.resolve(),
  };
}
