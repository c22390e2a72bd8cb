import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable, Statement } from '../kit/db.ts';
import { KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { Log } from '../kit/log.ts';
import type { Sealer } from '../kit/seal.ts';
import { AdaptiveConcurrencies } from './adaptive-concurrency.ts';
import type { Speed } from './adaptive-concurrency.ts';
import { endpointQueueKey, readEndpointQueueKey } from './delivery.ts';
import type { DeliveryTarget, DueDelivery, EndpointQueue } from './delivery.ts';
import { openSecrets } from './endpoint-secret.ts';
import {
  claimCallbackDeliveries,
  claimOwnDeliveries,
  claimRowsMax,
  countDueOrWaiting,
  findDeliveryTarget,
  keepPendingDeliveries,
  listDueEndpointQueues,
  putBackDeliveries,
} from './queries/deliveries.ts';
import { createAttemptRecorder } from './record-attempts.ts';
import type { RecordContext } from './record-attempts.ts';
import { sendDelivery } from './send-delivery.ts';
import type { Claimed, SendContext } from './send-delivery.ts';

export interface DeliveryQueueContext extends SendContext, RecordContext {
  clock: Clock;
  db: Database;
  log: Log;
  sealer: Sealer;
}

/** What a permit is for. */
export interface DeliveryScope {
  merchantId: string;
  speed: Speed;
}

// Requests under way in this process. Each costs a socket and some kilobytes, no connection to the database. Half of them are
// for endpoints that answer quickly: as many merchants have to hang at once as half the permits have endpoints, before anybody
// waits for one who was not known as slow.
const permits = {
  inAll: 256,
  /** Of slow endpoints, of all merchants together; of those that have not answered yet. */
  slow: 64,
  unproven: 64,
  perMerchant: 64,
  /** Of those of one merchant that are slow or unproven. */
  perMerchantUnsure: 16,
};
/** The time limit of a request and as much again for what comes before and after it. */
const leaseMs = 30_000;
// What we could not even sign (a seal key that is missing) waits for the operator and costs no attempt.
const unsignedWaitMs = 60_000;
// How much is claimed ahead, in multiples of what may be under way. A claim takes two round trips to the database, in which
// an endpoint that answers in some milliseconds gets what it has several times over.
const prefetchPerPermit = 3;

/**
 * The deliveries as a queue of the worker. Its keys are endpoint queues: one for each endpoint, and one for all callback URLs
 * of a merchant. The worker says when; several processes can work the same queue side by side.
 */
export function createDeliveryQueue(context: DeliveryQueueContext) {
  const { db, clock } = context;
  const concurrencies = new AdaptiveConcurrencies();
  const record = createAttemptRecorder(context);
  return {
    limiter: createDeliveryLimiter(),
    claimMax: claimRowsMax,
    listDueKeys: async (): Promise<string[]> => (await listDueEndpointQueues(db, clock.now())).map(endpointQueueKey),
    capacity: (key: string) => {
      const { speed, limit } = concurrencies.of(key).at(clock.now().getTime());
      const scope: DeliveryScope = { merchantId: readEndpointQueueKey(key)?.merchantId ?? '', speed };
      return { scope, concurrency: limit, prefetch: speed === 'quick' ? limit * prefetchPerPermit : 0 };
    },
    claim: async (key: string, rowsMax: number): Promise<Claimed[]> => {
      const queue = readEndpointQueueKey(key);
      return queue === null ? [] : claim(context, queue, rowsMax);
    },
    /** Sends it, gives the permit back when the receiver has answered, and writes down how it went. Never rejects. */
    run: async (claimed: Claimed, permit: { hasBacklog(): boolean; release(): void }): Promise<void> => {
      const { target, delivery } = claimed;
      const concurrency = concurrencies.of(endpointQueueKey({ ...target, ...queueOf(claimed) }));
      concurrency.begin(claimed, clock.now().getTime());
      const attempt = await sendDelivery(context, claimed).catch((error: unknown) => {
        const fields = { merchant_id: target.merchantId, endpoint_id: target.id, delivery_id: delivery.id };
        context.log.error('a webhook could not be signed', error, fields);
        return null;
      });
      const hasBacklog = permit.hasBacklog();
      const timing = attempt && { durationMs: attempt.result.durationMs, answered: attempt.result.kind === 'answered' };
      concurrency.end(claimed, timing && { ...timing, hasBacklog });
      permit.release();
      if (attempt) await record({ merchantId: target.merchantId, claimed, attempt });
      else await postpone(context, claimed);
    },
    putBack: async (key: string, items: readonly Claimed[]): Promise<void> => {
      const merchantId = readEndpointQueueKey(key)?.merchantId ?? '';
      const unsent = items.map(({ delivery }) => delivery);
      await tryStatement(context, merchantId, {
        failure: 'a claim could not be put back',
        statement: putBackDeliveries(merchantId, unsent, clock.now()),
      });
    },
    onIdle: (key: string): void => concurrencies.of(key).rest(),
  };
}

export type DeliveryQueue = ReturnType<typeof createDeliveryQueue>;

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

/** Of an endpoint that is off nothing is sent: what was left over when it was switched off is kept. */
async function claim(
  { db, clock, sealer }: DeliveryQueueContext,
  queue: EndpointQueue,
  rowsMax: number,
): Promise<Claimed[]> {
  const { merchantId, endpointId } = queue;
  const target = await findDeliveryTarget(db, queue);
  if (!target) return [];
  if (endpointId !== null && !isReceiving(target)) {
    while ((await keepPendingDeliveries(db, target)) > 0);
    return [];
  }
  const now = clock.now();
  const due = { merchantId, now, leaseEndsAt: addMs(now, leaseMs), rowsMax };
  const deliveries =
    endpointId === null ? await claimCallbackDeliveries(db, due) : await claimOwnDeliveries(db, endpointId, due);
  const secretsAt = openSecrets(sealer, target);
  return deliveries.map((delivery) => ({
    target,
    delivery,
    url: delivery.callbackUrl ?? target.url ?? '',
    secretsAt,
  }));
}

function queueOf({ target, delivery }: Claimed): Pick<EndpointQueue, 'endpointId'> & Pick<DueDelivery, 'callbackUrl'> {
  return { endpointId: target.id, callbackUrl: delivery.callbackUrl };
}

/** Whether events go to its URL. */
function isReceiving({ url, status, deleted }: DeliveryTarget): boolean {
  return url !== null && status === 'enabled' && !deleted;
}

async function postpone(context: DeliveryQueueContext, { target, delivery }: Claimed): Promise<void> {
  const dueAt = addMs(context.clock.now(), unsignedWaitMs);
  await tryStatement(context, target.merchantId, {
    failure: 'a webhook that could not be signed could not be put off',
    statement: putBackDeliveries(target.merchantId, [delivery], dueAt),
  });
}

/** What could not be put back comes back when its lease ends. */
async function tryStatement(
  { db, log }: DeliveryQueueContext,
  merchantId: string,
  { statement, failure }: { statement: Statement; failure: string },
): Promise<void> {
  await db.run(statement).catch((error: unknown) => log.error(failure, error, { merchant_id: merchantId }));
}

/** Deliveries that are to be made or made again, of all merchants: what an operator watches. */
export function countPendingDeliveries(db: Queryable): Promise<number> {
  return countDueOrWaiting(db);
}
