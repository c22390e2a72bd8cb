import { AdaptiveConcurrencies, type ConcurrencyLimits, type Speed } from '../kit/adaptive-concurrency.ts';
import { addMs } from '../kit/clock.ts';
import type { Statement } from '../kit/db.ts';
import { DueFloors } from '../kit/due-floors.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { WebhookContext } from './context.ts';
import { deliveryLeaseMs, endpointQueueKey, parseEndpointQueueKey, type EndpointQueue } from './delivery.ts';
import { isReceiving } from './endpoint.ts';
import { openSecrets } from './endpoint-secret.ts';
import { FailureCounts } from './failure-counts.ts';
import {
  claimDeliveries,
  claimRowsMax,
  findDeliveryTarget,
  keepPendingDeliveries,
  listDueEndpointQueues,
  putBackDeliveries,
} from './queries/deliveries.ts';
import { createAttemptRecorder } from './record-attempts.ts';
import { sendDelivery, type ClaimedDelivery } from './send-delivery.ts';

export { countPending as countPendingDeliveries } from './queries/deliveries.ts';

/** What a permit is for. */
export interface DeliveryScope {
  merchantId: string;
  speed: Speed;
}

// Requests under way in this process. Each costs a socket and some kilobytes, but no database connection. Half the permits are
// for endpoints that respond quickly: receivers of many merchants must hang at once before a new endpoint has to wait.
const permits = {
  inAll: 256,
  /** Of slow endpoints, of all merchants together; of those that have not responded yet. */
  slow: 64,
  unproven: 64,
  perMerchant: 64,
  /** Of one merchant's slow and unproven endpoints. */
  perMerchantUnsure: 16,
};
// Of one endpoint. With responses within 10 ms, 32 are more than a process can send.
const concurrencyLimits: ConcurrencyLimits = { initial: 4, usual: 8, quickMax: 32, slowMax: 8, hangingMin: 2 };
// A delivery that cannot be signed (the seal key is missing) waits for the operator and costs no attempt.
const unsignedWaitMs = 60_000;
// How many deliveries are prefetched, in multiples of the concurrency. A claim takes two round trips to the database, in which
// an endpoint that responds in some milliseconds receives its concurrency several times over.
const prefetchPerPermit = 3;

/**
 * The deliveries as a queue of the worker. Its keys are endpoint queues: one for each endpoint, and one for all callback URLs
 * of a merchant. Several processes can work the same queue at once.
 */
export function createDeliveryQueue(context: WebhookContext) {
  const { db, clock, log } = context;
  const concurrencies = new AdaptiveConcurrencies(concurrencyLimits);
  const floors = new DueFloors();
  const record = createAttemptRecorder(context);
  const unsigned = new FailureCounts(clock);
  return {
    limiter: createDeliveryLimiter(),
    claimMax: claimRowsMax,
    listDueKeys: async (): Promise<string[]> => {
      const search = floors.nextSweep(clock.now());
      const found = await listDueEndpointQueues(db, search);
      return floors.noteSweep(
        search,
        found.map((queue) => ({ key: endpointQueueKey(queue), fromStart: queue.fromStart })),
      );
    },
    capacity: (key: string) => {
      const { speed, limit } = concurrencies.get(key).current(clock.now().getTime());
      const scope: DeliveryScope = { merchantId: parseEndpointQueueKey(key)?.merchantId ?? '', speed };
      return { scope, concurrency: limit, prefetch: speed === 'quick' ? limit * prefetchPerPermit : 0 };
    },
    claim: async (key: string, rowsMax: number): Promise<ClaimedDelivery[]> => {
      const queue = parseEndpointQueueKey(key);
      if (queue === null) return [];
      const now = clock.now();
      return floors.claim(key, now, {
        rowsFrom: (from) => claim(context, queue, { now, from, rowsMax }),
        dueAtOf: ({ dueAt }) => dueAt,
      });
    },
    /** Sends it, releases the permit when the receiver has responded, and records the outcome. Never rejects. */
    run: async (claimed: ClaimedDelivery, permit: { hasBacklog(): boolean; release(): void }): Promise<void> => {
      const { target, delivery } = claimed;
      const { merchantId } = target;
      const { callbackUrl } = delivery;
      const concurrency = concurrencies.get(endpointQueueKey({ merchantId, endpointId: target.id, callbackUrl }));
      concurrency.begin(claimed, clock.now().getTime());
      const attempt = await sendDelivery(context, claimed).catch((error: unknown) => {
        const count = unsigned.add(target.id);
        const fields = { merchant_id: merchantId, endpoint_id: target.id, delivery_id: delivery.id, count };
        if (count !== null) log.error('a webhook could not be signed', error, fields);
        return null;
      });
      const hasBacklog = permit.hasBacklog();
      const timing = attempt && {
        durationMs: attempt.result.durationMs,
        responded: attempt.result.kind === 'answered',
      };
      concurrency.end(claimed, timing && { ...timing, hasBacklog });
      permit.release();
      if (attempt) await record({ merchantId, claimed, attempt });
      else {
        await tryStatement(context, merchantId, {
          failure: 'a webhook that could not be signed could not be postponed',
          statement: putBackDeliveries(merchantId, [delivery], addMs(clock.now(), unsignedWaitMs)),
        });
      }
    },
    putBack: async (key: string, items: readonly ClaimedDelivery[]): Promise<void> => {
      const merchantId = parseEndpointQueueKey(key)?.merchantId ?? '';
      const unsent = items.map(({ delivery }) => delivery);
      await tryStatement(context, merchantId, {
        failure: 'a claim could not be put back',
        statement: putBackDeliveries(merchantId, unsent, clock.now()),
      });
    },
    onIdle: (key: string): void => concurrencies.get(key).endBacklog(),
  };
}

function createDeliveryLimiter(): KeyedLimiter<DeliveryScope> {
  return new KeyedLimiter({
    name: 'webhook deliveries',
    limitsOf: ({ merchantId, speed }) => [
      { key: 'all', max: permits.inAll },
      { key: merchantId, max: permits.perMerchant },
      ...(speed === 'quick'
        ? []
        : [
            { key: speed, max: permits[speed] },
            { key: `${merchantId} unsure`, max: permits.perMerchantUnsure },
          ]),
    ],
  });
}

/** Nothing is sent to a disabled endpoint: its pending deliveries are kept. */
async function claim(
  { db, sealer }: Pick<WebhookContext, 'db' | 'sealer'>,
  queue: EndpointQueue,
  { now, from, rowsMax }: { now: Date; from: Date; rowsMax: number },
): Promise<(ClaimedDelivery & { dueAt: Date })[]> {
  const target = await findDeliveryTarget(db, queue);
  if (!target) return [];
  if (queue.endpointId !== null && (target.deleted || !isReceiving(target))) {
    while ((await keepPendingDeliveries(db, target)) > 0);
    return [];
  }
  const leaseEndsAt = addMs(now, deliveryLeaseMs);
  const deliveries = await claimDeliveries(db, { ...queue, now, from, leaseEndsAt, rowsMax });
  const secretsAt = openSecrets(sealer, target);
  return deliveries.map((delivery) => ({
    target,
    delivery,
    dueAt: delivery.dueAt,
    url: delivery.callbackUrl ?? target.url ?? '',
    secretsAt,
  }));
}

/** A delivery that could not be put back is due again when its lease ends. */
async function tryStatement(
  { db, log }: Pick<WebhookContext, 'db' | 'log'>,
  merchantId: string,
  { statement, failure }: { statement: Statement; failure: string },
): Promise<void> {
  await db.run(statement).catch((error: unknown) => log.error(failure, error, { merchant_id: merchantId }));
}
