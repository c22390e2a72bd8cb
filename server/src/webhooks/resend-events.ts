import { defaultEventKinds } from '../events/kinds.ts';
import type { EventKind } from '../events/kinds.ts';
import { fieldError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { isUuid, momentOf } from '../kit/ids.ts';
import type { SearchPlaces } from '../kit/search-places.ts';
import { readKinds } from './enabled-events.ts';
import type { Endpoint } from './endpoint.ts';
import { unknownEndpoint } from './list-events.ts';
import { findEndpointById, shareEndpoint } from './queries/endpoints.ts';
import { listEventsToResend, listMissedEvents, upsertResends } from './queries/resends.ts';
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

/**
 * Sends an endpoint again what it has missed, or everything of a time, oldest first and up to 10,000 events in one
 * call. A dry run counts and changes nothing. Throws AppError `invalid_request` on the field that is wrong,
 * `state_conflict` for an endpoint that is off, and `rate_limited` when there is no place to search in.
 */
export async function resendEvents(
  tx: Transaction,
  context: ResendContext & { searches: SearchPlaces },
  merchantId: string,
  request: ResendRequest,
): Promise<ResendOutcome> {
  const kinds = request.kinds === undefined ? undefined : readKinds(request.kinds, 'event');
  if (request.from && request.to && request.from > request.to) {
    throw fieldError('invalid_request', 'to', 'to is before from.');
  }
  return context.searches.search(merchantId, async () => {
    const endpoint = await readEndpoint(tx, merchantId, request);
    const found = await listMatching(tx, endpoint, request, kinds);
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
  const wanted = kinds ?? endpoint.kinds ?? defaultEventKinds;
  return listEventsToResend(tx, endpoint.merchantId, { ...filter, kinds: wanted }, resendsMax + 1);
}

/**
 * The batch ends between two milliseconds, so that the next call, which goes on from a time, takes each of the others
 * and none of these again. No event is older than its id, and no later id is older than this one.
 */
function firstBatch(found: readonly EventToResend[]): { taken: readonly EventToResend[]; continueFrom: Date | null } {
  const next = found[resendsMax];
  if (next === undefined) return { taken: found, continueFrom: null };
  const continueFrom = momentOf(next.id);
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
  const resends = taken.map(({ id }) => ({ id: context.newId(), eventId: id, endpointId, callbackUrl: null }));
  const states = request.status === 'all' ? allStates : (['failed', 'kept'] as const);
  const statements = upsertResends(merchantId, resends, { now: context.clock.now(), states });
  const counts = await Promise.all(statements.map((statement) => tx.run(statement)));
  tx.afterCommit(() => context.wakeDelivery(merchantId));
  return counts.reduce((sum, count) => sum + count, 0);
}
