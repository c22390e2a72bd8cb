import { AppError, fieldError } from '../kit/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import { isUuid } from '../kit/ids.ts';
import { listed } from '../kit/listed.ts';
import type { Listed } from '../kit/listed.ts';
import { totalMax } from '../kit/pagination.ts';
import type { PageRequest } from '../kit/pagination.ts';
import type { SearchPlaces } from '../kit/search-places.ts';
import { listDeliveriesOfEvents, listTriesOfDeliveries } from './queries/event-deliveries.ts';
import type { DeliveryRow, TryRow } from './queries/event-deliveries.ts';
import { isEndpointKnown } from './queries/endpoints.ts';
import { countEvents, findEventById, listEventRows } from './queries/event-lists.ts';
import type { EventFilter, EventRow } from './queries/event-lists.ts';

/** An event with what became of it. */
export interface SentEvent {
  id: string;
  event: EventRow;
  deliveries: DeliveryRow[];
}

/**
 * Newest first, or oldest first behind the event `after`; with the deliveries of the page in one statement. Throws
 * AppError `invalid_request` on `endpoint_id` or `to`, and `rate_limited` where the search for deliveries finds no place.
 */
export async function listEvents(
  context: { db: Queryable; searches: SearchPlaces },
  merchantId: string,
  page: PageRequest & { after: string | null },
  filter: EventFilter,
): Promise<Listed<SentEvent>> {
  const { db } = context;
  const { endpointId } = filter;
  if (endpointId !== undefined && !(await isEndpointKnown(db, merchantId, endpointId))) throw unknownEndpoint();
  checkTimes(filter);
  const sought = isOfMissedAlone(filter) ? undefined : (filter.status ?? endpointId);
  const { rows, total } = await listed(context, merchantId, sought, {
    rows: () => listEventRows(db, merchantId, filter, { ...page, rowsMax: page.limit + 1 }),
    total: () => countEvents(db, merchantId, filter, { after: page.after, countMax: totalMax + 1 }),
  });
  return { rows: await withDeliveries(db, merchantId, rows), total };
}

/**
 * What is asked of deliveries is looked for event by event: a search. Only what one endpoint has missed is read from an
 * index, unless it is narrowed by what stands in the events.
 */
function isOfMissedAlone({ endpointId, status, kind, objectId }: EventFilter): boolean {
  const isOfMissed = endpointId !== undefined && (status === 'failed' || status === 'kept');
  return isOfMissed && kind === undefined && objectId === undefined;
}

/** One event with its deliveries and every attempt. Throws AppError `not_found`, also for another merchant's. */
export async function getEvent(
  db: Queryable,
  merchantId: string,
  id: string,
): Promise<SentEvent & { tries: readonly TryRow[] }> {
  const [sent] = await withDeliveries(db, merchantId, [await getEventRow(db, merchantId, id)]);
  if (!sent) throw notFound();
  const deliveryIds = sent.deliveries.map((delivery) => delivery.id);
  return { ...sent, tries: await listTriesOfDeliveries(db, merchantId, deliveryIds) };
}

/** The event alone. Throws the same. */
export async function getEventRow(
  db: Queryable,
  merchantId: string,
  id: string,
  find = findEventById,
): Promise<EventRow> {
  const event = isUuid(id) ? await find(db, merchantId, id) : undefined;
  if (!event) throw notFound();
  return event;
}

async function withDeliveries(db: Queryable, merchantId: string, events: readonly EventRow[]): Promise<SentEvent[]> {
  if (events.length === 0) return [];
  const ids = events.map(({ id }) => id);
  const byEvent = Map.groupBy(await listDeliveriesOfEvents(db, merchantId, ids), ({ eventId }) => eventId);
  return events.map((event) => ({ id: event.id, event, deliveries: byEvent.get(event.id) ?? [] }));
}

function notFound(): AppError {
  return new AppError('not_found', 'There is no event with this id in this environment. List them at /v1/events.');
}

/** Throws AppError `invalid_request` on `to` for times between which nothing can be. */
export function checkTimes({ from, to }: { from?: Date | undefined; to?: Date | undefined }): void {
  if (from && to && from > to) throw fieldError('invalid_request', 'to', 'to is before from.');
}

/** For a request that refers to an endpoint of somebody else, or to none. */
export function unknownEndpoint(): AppError {
  return fieldError('invalid_request', 'endpoint_id', 'There is no webhook endpoint with this id in this environment.');
}
