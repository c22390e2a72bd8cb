import { fieldError, type AppError } from '../api/app-error.ts';
import { getterOf } from '../api/get-record.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable } from '../kit/db.ts';
import type { TimeFilter } from '../api/list-filter.ts';
import type { List } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import type { WebhookContext } from './context.ts';
import { eventBody } from './envelope.ts';
import { isEndpointKnown } from './queries/endpoints.ts';
import {
  findEventById,
  listDeliveriesOfEvents,
  listEventRows,
  listTriesOfDeliveries,
  lockEventShared,
  type DeliveryRow,
  type EventFilter,
  type EventRow,
  type TryRow,
} from './queries/event-lists.ts';

export { findEventOfRequest } from './queries/event-lists.ts';

/** An event with its deliveries. */
export interface SentEvent {
  id: string;
  event: EventRow;
  deliveries: DeliveryRow[];
}

/**
 * Newest first, or oldest first after the event `after`, with the deliveries of the page. Throws AppError `invalid_request` on
 * `endpoint_id` or `to`, and `rate_limited` when too many searches are running.
 */
export async function listEvents(
  { db, lists }: Pick<WebhookContext, 'db' | 'lists'>,
  merchantId: string,
  page: PageRequest,
  filter: EventFilter,
): Promise<List<SentEvent>> {
  const { endpointId } = filter;
  if (endpointId !== undefined && !(await isEndpointKnown(db, merchantId, endpointId))) throw unknownEndpoint();
  checkTimes(filter);
  const list = await listEventRows(lists, merchantId, page, filter);
  return { ...list, rows: await withDeliveries(db, merchantId, list.rows) };
}

/** One event with its deliveries and every attempt. Throws AppError `not_found`, also for another merchant's. */
export async function getEvent(
  db: Queryable,
  merchantId: string,
  id: string,
): Promise<SentEvent & { tries: readonly TryRow[] }> {
  const [sent] = await withDeliveries(db, merchantId, [await getEventRow(db, merchantId, id)]);
  assert(sent, 'an event that was found has its deliveries');
  const deliveryIds = sent.deliveries.map((delivery) => delivery.id);
  return { ...sent, tries: await listTriesOfDeliveries(db, merchantId, deliveryIds) };
}

const notFound = 'There is no event with this id in this environment. List them at /v1/events.';

/** The event alone. Throws the same. */
export const getEventRow = getterOf(findEventById, notFound);
export const lockEventRow = getterOf(lockEventShared, notFound);

async function withDeliveries(db: Queryable, merchantId: string, events: readonly EventRow[]): Promise<SentEvent[]> {
  if (events.length === 0) return [];
  const ids = events.map(({ id }) => id);
  const byEvent = Map.groupBy(await listDeliveriesOfEvents(db, merchantId, ids), ({ eventId }) => eventId);
  return events.map((event) => ({ id: event.id, event, deliveries: byEvent.get(event.id) ?? [] }));
}

/** Throws AppError `invalid_request` on `to` where it is before `from`. */
export function checkTimes({ from, to }: TimeFilter): void {
  if (from && to && from > to) throw fieldError('invalid_request', 'to', 'to is before from.');
}

/** For a request with the id of no endpoint, or of another merchant's. */
export function unknownEndpoint(): AppError {
  return fieldError('invalid_request', 'endpoint_id', 'There is no webhook endpoint with this id in this environment.');
}

/** The event as it was sent, with its deliveries: JSON text, because its record is stored as text. */
export function eventToText({ event, deliveries }: SentEvent, testMode: boolean, tries?: readonly TryRow[]): string {
  const body = eventBody({ ...event, testMode }).toString('utf8');
  const objectId = JSON.stringify(event.objectId);
  const triesOf = tries && Map.groupBy(tries, ({ deliveryId }) => deliveryId);
  const sent = deliveries.map((delivery) => ({
    ...deliveryToWire(delivery),
    ...(triesOf && { tries: (triesOf.get(delivery.id) ?? []).map(tryToWire) }),
  }));
  return `${body.slice(0, -1)},"object_id":${objectId},"deliveries":${JSON.stringify(sent)}}`;
}

function deliveryToWire(delivery: DeliveryRow) {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    callback_url: delivery.callbackUrl,
    status: delivery.status,
    attempts: Number(delivery.attempts),
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    delivered_at: delivery.deliveredAt?.toISOString() ?? null,
  };
}

function tryToWire(row: TryRow) {
  return {
    attempt: Number(row.attempt),
    sent_at: row.sentAt.toISOString(),
    status: row.statusCode === null ? null : Number(row.statusCode),
    failure: row.failure,
    duration_ms: Number(row.durationMs),
    answer: row.response,
  };
}
