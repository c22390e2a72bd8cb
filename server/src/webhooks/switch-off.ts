import { appendEvent } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { DeliveryTarget } from './delivery.ts';
import { endpointToWire } from './endpoint.ts';
import type { DisabledReason, Endpoint } from './endpoint.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { lockFailing, markWarned, raiseEndpointSequence } from './queries/endpoint-health.ts';
import type { Failing } from './queries/endpoint-health.ts';
import { disableEndpoint, findEndpointById, lockEndpoint } from './queries/endpoints.ts';

export interface SwitchOffContext extends WorkContext {
  db: Database;
  log: Log;
}

/** An endpoint and the URL of it that was called. */
export type CalledEndpoint = Pick<DeliveryTarget, 'merchantId' | 'id' | 'testMode'> & { url: string };

const hourMs = 3_600_000;
const warnAfterMs = 24 * hourMs;
const disableAfterMs = 5 * 24 * hourMs;

/** Whether the time has come to warn of an endpoint, or to switch it off. */
export function isJudgementDue({ failingSince, warnedAt }: Failing, now: Date): boolean {
  if (failingSince === null) return false;
  return failingSince <= addMs(now, warnedAt === null ? -warnAfterMs : -disableAfterMs);
}

/**
 * Tells of an endpoint that has failed for a day, and switches it off after five without one success. Looks at what is
 * true now: a success that was written down meanwhile, or a change of the endpoint, saves it.
 */
export async function judgeFailing(context: SwitchOffContext, called: CalledEndpoint): Promise<void> {
  const { merchantId, id } = called;
  await context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const endpoint = await lockEndpoint(tx, merchantId, id);
    if (endpoint?.status !== 'enabled' || endpoint.url !== called.url) return;
    const failing = await lockFailing(tx, merchantId, id);
    if (failing === undefined || failing.failingSince === null || !isJudgementDue(failing, now)) return;
    if (failing.failingSince <= addMs(now, -disableAfterMs)) {
      await switchOff(tx, context, { called, reason: 'failing' });
      await finishSwitchOff(tx, context, { called, reason: 'failing' });
      return;
    }
    tx.send(markWarned(merchantId, id, now));
    const { testMode } = called;
    await emitEndpointEvent(tx, context, endpoint, { kind: 'webhook_endpoint.failing', testMode });
    const fields = { merchant_id: merchantId, endpoint_id: id, failing_since: failing.failingSince.toISOString() };
    tx.afterCommit(() => context.log.warn('a webhook endpoint has failed for 24 hours', fields));
  });
}

type OffReason = Exclude<DisabledReason, 'manual'>;

const offMessages: Record<OffReason, string> = {
  gone: 'a webhook endpoint answered 410 and is off now',
  failing: 'a webhook endpoint has failed for five days and is off now',
};

/**
 * Switches an endpoint off. What is left to do is left for `finishSwitchOff`, in the same transaction. Leaves alone one
 * whose URL is another one than was called: the merchant changed it meanwhile, or it was a callback address. Answers
 * whether it is off by this.
 */
export async function switchOff(
  tx: Transaction,
  context: SwitchOffContext,
  { called, reason }: { called: CalledEndpoint; reason: OffReason },
): Promise<boolean> {
  const { merchantId, id, url } = called;
  return (await tx.run(disableEndpoint({ merchantId, id, url, reason, at: context.clock.now() }))) > 0;
}

/** Keeps what the endpoint has not received, and tells of it. */
export async function finishSwitchOff(
  tx: Transaction,
  context: SwitchOffContext,
  { called, reason }: { called: CalledEndpoint; reason: OffReason },
): Promise<void> {
  const { merchantId, id, testMode } = called;
  const endpoint = await findEndpointById(tx, merchantId, id);
  assert(endpoint, 'an endpoint that was switched off just now is there');
  await keepPendingDeliveries(tx, called);
  await emitEndpointEvent(tx, context, endpoint, { kind: 'webhook_endpoint.disabled', testMode });
  const fields = { merchant_id: merchantId, endpoint_id: id };
  tx.afterCommit(() => context.log.warn(offMessages[reason], fields));
}

/** Emits what became of an endpoint, as it is now, without its secret. */
async function emitEndpointEvent(
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
