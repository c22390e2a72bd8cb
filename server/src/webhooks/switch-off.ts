import { appendEvent, type EventContext } from '../events/append-event.ts';
import type { EventKind } from '../events/kinds.ts';
import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { WebhookContext } from './context.ts';
import type { DeliveryTarget } from './delivery.ts';
import { endpointToWire, type DisabledReason, type Endpoint } from './endpoint.ts';
import { keepPendingDeliveries } from './queries/deliveries.ts';
import { incrementEndpointSequence, lockFailing, markWarned, type Failing } from './queries/endpoint-health.ts';
import { disableEndpoint, findEndpointById, lockEndpoint } from './queries/endpoints.ts';

/** An endpoint as it was when it, or a callback URL for which it signs, was called at `url`. */
export type CalledEndpoint = Pick<DeliveryTarget, 'merchantId' | 'id' | 'testMode' | 'updatedAt'> & { url: string };

const hourMs = 3_600_000;
const warnAfterMs = 24 * hourMs;
const disableAfterMs = 5 * 24 * hourMs;

/** Whether it is time to warn of an endpoint, or to disable it. */
export function isJudgementDue({ failingSince, warnedAt }: Failing, now: Date): boolean {
  if (failingSince === null) return false;
  return failingSince <= addMs(now, warnedAt === null ? -warnAfterMs : -disableAfterMs);
}

/**
 * Warns of an endpoint that has failed for a day, and disables it after five days without one success. Reads its state anew: a
 * success that was recorded meanwhile, or a change of the endpoint, saves it.
 */
export async function judgeFailing(context: WebhookContext, called: Omit<CalledEndpoint, 'updatedAt'>): Promise<void> {
  const { merchantId, id, testMode } = called;
  await context.sealer.prepare();
  await context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const endpoint = await lockEndpoint(tx, merchantId, id);
    if (endpoint?.status !== 'enabled' || endpoint.url !== called.url) return;
    const failing = await lockFailing(tx, merchantId, id);
    if (failing === undefined || failing.failingSince === null || !isJudgementDue(failing, now)) return;
    if (failing.failingSince <= addMs(now, -disableAfterMs)) {
      const ending = { called: { ...called, updatedAt: endpoint.updatedAt }, reason: 'failing' } as const;
      await switchOff(tx, ending, now);
      await finishSwitchOff(tx, context, ending);
      return;
    }
    tx.send(markWarned(merchantId, id, now));
    await emitEndpointEvent(tx, context, endpoint, { kind: 'webhook_endpoint.failing', testMode });
    await context.mailTrouble(tx, endpoint, { kind: 'failing', since: failing.failingSince });
    const fields = { merchant_id: merchantId, endpoint_id: id, failing_since: failing.failingSince.toISOString() };
    tx.afterCommit(() => context.log.warn('a webhook endpoint has failed for 24 hours', fields));
  });
}

interface Ending {
  called: CalledEndpoint;
  reason: Exclude<DisabledReason, 'manual'>;
}

const offMessages: Record<Ending['reason'], string> = {
  gone: 'a webhook endpoint returned 410 and was disabled',
  failing: 'a webhook endpoint has failed for five days and was disabled',
};

/**
 * Disables an endpoint; `finishSwitchOff` has to follow in the same transaction. One that the merchant has changed since it was
 * called, such as switched on again, stays enabled, and so does one for which a callback URL was called. Returns whether this
 * disabled it.
 */
export async function switchOff(tx: Transaction, { called, reason }: Ending, disabledAt: Date): Promise<boolean> {
  const { merchantId, id, url, updatedAt } = called;
  return (await tx.run(disableEndpoint({ merchantId, id, url, updatedAt, reason, disabledAt }))) > 0;
}

/**
 * Keeps the endpoint's pending deliveries, and emits, mails and logs that it was disabled. Call `sealer.prepare()` before the
 * transaction.
 */
export async function finishSwitchOff(
  tx: Transaction,
  context: EventContext & Pick<WebhookContext, 'log' | 'planner' | 'mailTrouble'>,
  { called, reason }: Ending,
): Promise<void> {
  const { merchantId, id, testMode } = called;
  const endpoint = await findEndpointById(tx, merchantId, id);
  assert(endpoint, 'an endpoint that this transaction disabled is found');
  await keepPendingDeliveries(tx, called);
  context.planner.endpointsChanged(tx, merchantId);
  await emitEndpointEvent(tx, context, endpoint, { kind: 'webhook_endpoint.disabled', testMode });
  await context.mailTrouble(tx, endpoint, { kind: 'disabled', reason });
  const fields = { merchant_id: merchantId, endpoint_id: id };
  tx.afterCommit(() => context.log.warn(offMessages[reason], fields));
}

/** Emits an event with the endpoint as it is now, without its secret. */
async function emitEndpointEvent(
  tx: Transaction,
  context: EventContext,
  endpoint: Endpoint,
  event: { kind: Extract<EventKind, 'webhook_endpoint.failing' | 'webhook_endpoint.disabled'>; testMode: boolean },
): Promise<void> {
  const { merchantId, id } = endpoint;
  appendEvent(tx, context, {
    merchantId,
    kind: event.kind,
    objectId: id,
    sequence: await incrementEndpointSequence(tx, merchantId, id),
    record: endpointToWire(endpoint, event.testMode),
    callbackUrl: null,
  });
}
