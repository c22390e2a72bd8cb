import type { EventKind } from '../events/kinds.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid, timestampOf } from '../kit/ids.ts';
import { limitEachKey, type KeyedLimiter } from '../kit/keyed-limiter.ts';
import type { WebhookContext } from './context.ts';
import { endpointQueueKey } from './delivery.ts';
import { kindsOf, readKinds } from './enabled-events.ts';
import type { Endpoint } from './endpoint.ts';
import { checkTimes, unknownEndpoint } from './list-events.ts';
import { findEndpointById, lockEndpointShared } from './queries/endpoints.ts';
import {
  listEventsToResend,
  listEventsUnderWay,
  listMissedEvents,
  upsertResends,
  type EventToResend,
} from './queries/resends.ts';
import { allStates, checkReceiving } from './resend-event.ts';
import { eventRetentionMs } from './retention.ts';

export interface ResendRequest {
  endpointId: string;
  /** Not validated yet. Undefined: all that the endpoint missed; with status `all`, what it subscribes to. */
  kinds?: readonly string[] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  /** `undelivered`: what failed or was kept. `all`: also what was delivered or never sent to this endpoint. */
  status?: 'undelivered' | 'all' | undefined;
  isDryRun: boolean;
}

export interface ResendOutcome {
  /** The events covered by this call. */
  matched: number;
  /** How many of them are resent; the others were already in progress. */
  resent: number;
  /** `from` of the next call, or null when all were covered. */
  continueFrom: Date | null;
}

// A second or two of one transaction, which holds the endpoint's row.
const resendsMax = 10_000;
// Events about to be purged could be deleted while they are resent, so the last hour of the retention period is left out.
const purgeMarginMs = 3_600_000;

/** Resending up to ten thousand events takes seconds, so it has a limiter of its own besides that of searches. */
export function createBulkResendLimiter(): KeyedLimiter<string> {
  const message = 'Another bulk resend is running. Try again in a second.';
  return limitEachKey({ name: 'bulk resends', inAll: 2, each: 1, refusal: { code: 'rate_limited', message } });
}

/**
 * Resends to an endpoint what it has missed, or all events of a period, oldest first and up to 10,000 events in one call. A dry
 * run only counts, as a search does, so that a button pressed twice is not refused because of the other press. Throws AppError
 * `invalid_request` on the field that is wrong, `state_conflict` for an endpoint that is disabled or has no URL, and
 * `rate_limited` while other bulk resends or searches run.
 */
export async function resendEvents(
  tx: Transaction,
  context: Pick<WebhookContext, 'clock' | 'newId' | 'scheduleDeliveries' | 'bulkResends' | 'lists'>,
  merchantId: string,
  request: ResendRequest,
): Promise<ResendOutcome> {
  const kinds = request.kinds === undefined ? undefined : readKinds(request.kinds, 'event');
  checkTimes(request);
  const limiter = request.isDryRun ? context.lists.searches : context.bulkResends;
  return limiter.run(merchantId, async () => {
    const endpoint = await readEndpoint(tx, merchantId, request);
    const retainedSince = addMs(context.clock.now(), purgeMarginMs - eventRetentionMs);
    const from = request.from && request.from > retainedSince ? request.from : retainedSince;
    const found = await listMatching(tx, endpoint, { ...request, from }, kinds);
    const { batch, continueFrom } = firstBatch(found);
    const resent = request.isDryRun ? 0 : await resend(tx, context, { endpoint, request, batch });
    return { matched: batch.length, resent, continueFrom };
  });
}

/** For a dry run the endpoint may be disabled; otherwise it cannot be disabled before the transaction ends. */
async function readEndpoint(tx: Transaction, merchantId: string, request: ResendRequest): Promise<Endpoint> {
  const { endpointId, isDryRun } = request;
  if (!isUuid(endpointId)) throw unknownEndpoint();
  const endpoint = await (isDryRun ? findEndpointById : lockEndpointShared)(tx, merchantId, endpointId);
  if (!endpoint) throw unknownEndpoint();
  if (!isDryRun) checkReceiving(endpoint);
  return endpoint;
}

function listMatching(
  tx: Transaction,
  endpoint: Endpoint,
  request: ResendRequest,
  kinds: readonly EventKind[] | undefined,
): Promise<EventToResend[]> {
  const { from, to } = request;
  const filter = { endpointId: endpoint.id, ...(from && { from }), ...(to && { to }) };
  if (request.status !== 'all') {
    return listMissedEvents(tx, endpoint.merchantId, { ...filter, ...(kinds && { kinds }) }, resendsMax + 1);
  }
  const subscribedKinds = kinds ?? kindsOf(endpoint.kinds);
  return listEventsToResend(tx, endpoint.merchantId, { ...filter, kinds: subscribedKinds }, resendsMax + 1);
}

/**
 * The batch ends between two milliseconds, so that the next call, which continues from a time, covers all other events and none
 * of these again. No event is older than its id, and no later id is older than this one.
 */
function firstBatch(found: readonly EventToResend[]): { batch: readonly EventToResend[]; continueFrom: Date | null } {
  const next = found[resendsMax];
  if (next === undefined) return { batch: found, continueFrom: null };
  const continueFrom = timestampOf(next.id);
  const batch = found.filter(({ createdAt }) => createdAt < continueFrom);
  return { batch: batch.length > 0 ? batch : found.slice(0, resendsMax), continueFrom };
}

async function resend(
  tx: Transaction,
  context: Pick<WebhookContext, 'clock' | 'newId' | 'scheduleDeliveries'>,
  { endpoint, request, batch }: { endpoint: Endpoint; request: ResendRequest; batch: readonly EventToResend[] },
): Promise<number> {
  if (batch.length === 0) return 0;
  const { merchantId, id: endpointId } = endpoint;
  const now = context.clock.now();
  const isAll = request.status === 'all';
  const eventIds = batch.map(({ id }) => id);
  // An upsert locks rows even where it changes nothing, and workers could not claim or record them meanwhile.
  const underWay = new Set(isAll ? await listEventsUnderWay(tx, merchantId, { endpointId, eventIds, now }) : []);
  const resends = eventIds
    .filter((eventId) => !underWay.has(eventId))
    .map((eventId) => ({ id: context.newId(), eventId, endpointId, callbackUrl: null }));
  const states = isAll ? allStates : (['failed', 'kept'] as const);
  const statements = upsertResends(merchantId, resends, { now, states });
  const counts = await Promise.all(statements.map((statement) => tx.run(statement)));
  tx.afterCommit(() => context.scheduleDeliveries([endpointQueueKey({ merchantId, endpointId })]));
  return counts.reduce((sum, count) => sum + count, 0);
}
