import type { EventKind } from '../events/kinds.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid, timestampOf } from '../kit/ids.ts';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import type { KeyedLimiter } from '../kit/keyed-limiter.ts';
import { thirteenMonthsMs } from '../kit/retention-periods.ts';
import { endpointQueueKey } from './delivery.ts';
import { kindsOf, readKinds } from './enabled-events.ts';
import type { Endpoint } from './endpoint.ts';
import { checkTimes, unknownEndpoint } from './list-events.ts';
import { findEndpointById, shareEndpoint } from './queries/endpoints.ts';
import { listEventsToResend, listEventsUnderWay, listMissedEvents, upsertResends } from './queries/resends.ts';
import type { EventToResend } from './queries/resends.ts';
import { allStates, checkReceiving } from './resend-event.ts';
import type { ResendContext } from './resend-event.ts';

export interface ResendRequest {
  endpointId: string;
  /** As the caller named them. Left out: whatever was missed, or what the endpoint subscribes to. */
  kinds?: readonly string[] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  /** `undelivered`: what failed or was kept. `all`: also what was delivered, or never meant for this endpoint. */
  status?: 'undelivered' | 'all' | undefined;
  isDryRun: boolean;
}

export interface ResendOutcome {
  /** The events that were chosen in this call. */
  matched: number;
  /** How many of them are sent again; the others were under way already. */
  resent: number;
  /** Where the next call goes on, or null when all were taken. */
  continueFrom: Date | null;
}

// A second or two of one transaction, which holds the endpoint's row.
const resendsMax = 10_000;
// What is as old as events are kept may be deleted while it is being sent again, so the last hour of it is left alone.
const purgeSlackMs = 3_600_000;

/** Sending up to ten thousand events again takes seconds, so it has a limiter of its own beside the searches. */
export function createBulkResendLimiter(): KeyedLimiter<string> {
  const message = 'Other events are still being sent again. Send this request again in a second.';
  return limitEachKey({ name: 'bulk resends', inAll: 2, each: 1, refusal: { code: 'rate_limited', message } });
}

/**
 * Sends an endpoint again what it has missed, or everything of a time, oldest first and up to 10,000 events in one
 * call. A dry run counts and changes nothing. Throws AppError `invalid_request` on the field that is wrong,
 * `state_conflict` for an endpoint that is off, and `rate_limited` when others are still running.
 */
export async function resendEvents(
  tx: Transaction,
  context: ResendContext & { bulkResends: KeyedLimiter<string> },
  merchantId: string,
  request: ResendRequest,
): Promise<ResendOutcome> {
  const kinds = request.kinds === undefined ? undefined : readKinds(request.kinds, 'event');
  checkTimes(request);
  return context.bulkResends.run(merchantId, async () => {
    const endpoint = await readEndpoint(tx, merchantId, request);
    const keptSince = addMs(context.clock.now(), purgeSlackMs - thirteenMonthsMs);
    const from = request.from && request.from > keptSince ? request.from : keptSince;
    const found = await listMatching(tx, endpoint, { ...request, from }, kinds);
    const { taken, continueFrom } = firstBatch(found);
    const resent = request.isDryRun ? 0 : await send(tx, context, { endpoint, request, taken });
    return { matched: taken.length, resent, continueFrom };
  });
}

/** Of a dry run the endpoint may be off; otherwise nobody switches it off before the transaction ends. */
async function readEndpoint(tx: Transaction, merchantId: string, request: ResendRequest): Promise<Endpoint> {
  const { endpointId, isDryRun } = request;
  if (!isUuid(endpointId)) throw unknownEndpoint();
  const endpoint = await (isDryRun ? findEndpointById : shareEndpoint)(tx, merchantId, endpointId);
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
  const wanted = kinds ?? kindsOf(endpoint.kinds);
  return listEventsToResend(tx, endpoint.merchantId, { ...filter, kinds: wanted }, resendsMax + 1);
}

/**
 * The batch ends between two milliseconds, so that the next call, which goes on from a time, takes each of the others
 * and none of these again. No event is older than its id, and no later id is older than this one.
 */
function firstBatch(found: readonly EventToResend[]): { taken: readonly EventToResend[]; continueFrom: Date | null } {
  const next = found[resendsMax];
  if (next === undefined) return { taken: found, continueFrom: null };
  const continueFrom = timestampOf(next.id);
  const taken = found.filter(({ createdAt }) => createdAt < continueFrom);
  return { taken: taken.length > 0 ? taken : found.slice(0, resendsMax), continueFrom };
}

async function send(
  tx: Transaction,
  context: ResendContext,
  { endpoint, request, taken }: { endpoint: Endpoint; request: ResendRequest; taken: readonly EventToResend[] },
): Promise<number> {
  if (taken.length === 0) return 0;
  const { merchantId, id: endpointId } = endpoint;
  const now = context.clock.now();
  const isAll = request.status === 'all';
  const eventIds = taken.map(({ id }) => id);
  // Writing would lock them even where it changes nothing, and nobody could claim or record them meanwhile.
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
