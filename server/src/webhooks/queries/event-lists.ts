import { finderOf } from '../../api/find-record.ts';
import type { EventKind } from '../../events/kinds.ts';
import { idsBy, rowsBy, valueBy } from '../../kit/run-statement.ts';
import { columnFilter, createdFilter, idFilters, type ListFilter, type TimeFilter } from '../../api/list-filter.ts';
import type { List, ListReader } from '../../api/list-reader.ts';
import { searchedRowsMax, type PageRequest } from '../../api/pagination.ts';
import type { Delivery, DeliveryStatus } from '../delivery.ts';

/** An event as a merchant looks it up. */
export interface EventRow {
  id: string;
  kind: EventKind;
  createdAt: Date;
  sequence: bigint;
  objectId: string;
  callbackUrl: string | null;
  requestId: string | null;
  /** As it was stored. */
  recordText: string;
}

/** The filters of a list; undefined is no filter. */
export interface EventFilter extends TimeFilter {
  kind?: EventKind | undefined;
  objectId?: string | undefined;
  /** With a delivery to this endpoint's own URL. */
  endpointId?: string | undefined;
  /** With a delivery in this state; to `endpointId` if that is given. */
  status?: DeliveryStatus | undefined;
  /** After this event, oldest first. */
  after?: string | undefined;
}

const columns = `events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText"`;

/**
 * Newest first, or oldest first after `after`. A list of one endpoint's failed or kept events is read from their own index. Any
 * other filter on deliveries probes them event by event, which makes it a search. Throws AppError `rate_limited` when too many
 * searches are running.
 */
export function listEventRows(
  lists: ListReader,
  merchantId: string,
  page: PageRequest,
  filter: EventFilter,
): Promise<List<EventRow>> {
  const { endpointId, status, kind, objectId, after } = filter;
  const isOfMissed = endpointId !== undefined && (status === 'failed' || status === 'kept');
  const idColumn = isOfMissed ? 'missed.event_id' : 'events.id';
  const source = {
    name: isOfMissed ? 'webhook_missed_events' : 'webhook_events',
    select: isOfMissed ? selectMissed : selectAll,
    idColumn,
    oldestFirst: after !== undefined,
    countsInOrder: true,
  };
  const filters = [
    ...(isOfMissed ? missedFilters(endpointId, status) : []),
    ...timeFilters(idColumn, filter),
    ...columnFilter('after', `${idColumn} >`, after),
    ...columnFilter('kind', 'events.kind =', kind),
    ...columnFilter('object', 'events.object_id =', objectId),
    ...(isOfMissed ? [] : deliveryFilters(filter)),
  ];
  const filtersDeliveries = endpointId !== undefined || status !== undefined;
  const isReadFromIndex = isOfMissed && kind === undefined && objectId === undefined;
  return lists.read<EventRow, EventRow>(source, {
    merchantId,
    page,
    filters,
    isSearch: filtersDeliveries && !isReadFromIndex,
  });
}

const selectAll = `SELECT ${columns} FROM events WHERE events.merchant_id = $1`;

const selectMissed = `SELECT ${columns} FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1`;

export const findEventById = finderOf<EventRow>({
  name: 'webhook_events_find',
  text: `SELECT ${columns} FROM events WHERE merchant_id = $1 AND id = $2`,
});

/**
 * The first event that a request made, among the newest: no index has the ids of requests, which the request log finds. The log of a
 * process that crashed lacks its last second.
 */
export const findEventOfRequest = valueBy<string | undefined, [merchantId: string, requestId: string]>({
  name: 'webhook_events_find_by_request',
  text: `SELECT id AS value FROM (
           SELECT id, request_id FROM events WHERE merchant_id = $1 ORDER BY id DESC LIMIT ${searchedRowsMax}
         ) AS newest WHERE request_id = $2 ORDER BY id LIMIT 1`,
  none: undefined,
});

/** An event by its id, which cannot be deleted before the transaction ends. Waits for a deletion that is under way. */
export const lockEventShared = finderOf<EventRow>({
  name: 'webhook_events_share',
  text: `SELECT ${columns} FROM events WHERE merchant_id = $1 AND id = $2 FOR KEY SHARE`,
});

/** Filters by the time of an event, and by the ids that were created about then. */
export function timeFilters(id: string, times: TimeFilter): ListFilter[] {
  return [...createdFilter('events', times), ...idFilters(id, times)];
}

function missedFilters(endpointId: string, status: DeliveryStatus): ListFilter[] {
  return [
    ...columnFilter('missed', `missed.callback_url IS NULL AND missed.endpoint_id =`, endpointId),
    // The first half is the condition of the index.
    ...columnFilter('status', `missed.status IN ('kept', 'failed') AND missed.status =`, status),
  ];
}

/** A scalar and not an EXISTS, so that it stays one probe for each event, made as the page needs it. */
function deliveryFilters({ endpointId, status }: EventFilter): ListFilter[] {
  if (endpointId === undefined && status === undefined) return [];
  const ofEndpoint = endpointId !== undefined;
  return [
    {
      name: `sent${ofEndpoint ? '_there' : ''}${status === undefined ? '' : '_status'}`,
      text: (next) => {
        const there = ofEndpoint ? `AND sent.callback_url IS NULL AND sent.endpoint_id = ${next()}` : '';
        const inState = status === undefined ? '' : `AND sent.status = ${next()}`;
        return `(SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id ${there} ${inState} LIMIT 1)`;
      },
      values: [...(ofEndpoint ? [endpointId] : []), ...(status === undefined ? [] : [status])],
    },
  ];
}

/** An event's delivery to one address. */
export interface DeliveryRow extends Pick<
  Delivery,
  'id' | 'eventId' | 'endpointId' | 'callbackUrl' | 'status' | 'nextAttemptAt'
> {
  attempts: bigint;
  deliveredAt: Date | null;
}

/** The deliveries of a page of events, oldest first: the newest hundred of each event. */
export const listDeliveriesOfEvents = rowsBy<DeliveryRow, [merchantId: string, eventIds: readonly string[]]>({
  name: 'webhook_deliveries_of_events',
  text: `SELECT sent.* FROM unnest($2::uuid[]) AS wanted (id)
         CROSS JOIN LATERAL (
           SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", callback_url AS "callbackUrl", status, attempts,
                  next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
           FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = wanted.id
           ORDER BY id DESC LIMIT 100
         ) AS sent
         ORDER BY sent.id`,
});

/** All endpoints with a delivery of the event to their own URL. */
export const listEndpointIdsOfEvent = idsBy<[merchantId: string, eventId: string]>({
  name: 'webhook_deliveries_endpoints_of_event',
  text: `SELECT endpoint_id AS id FROM webhook_deliveries
         WHERE merchant_id = $1 AND event_id = $2 AND callback_url IS NULL`,
});

/** One attempt and its outcome. */
export interface TryRow {
  deliveryId: string;
  attempt: bigint;
  sentAt: Date;
  statusCode: bigint | null;
  failure: string | null;
  durationMs: bigint;
  /** The beginning of the response body. */
  response: string;
}

/** The newest hundred of each delivery, oldest first; only a delivery that is resent very often has more. */
export const listTriesOfDeliveries = rowsBy<TryRow, [merchantId: string, deliveryIds: readonly string[]]>({
  name: 'webhook_attempts_of_deliveries',
  text: `SELECT tries.* FROM unnest($2::uuid[]) AS wanted (id)
         CROSS JOIN LATERAL (
           SELECT delivery_id AS "deliveryId", attempt, created_at AS "sentAt", status_code AS "statusCode", failure,
                  duration_ms AS "durationMs", response
           FROM webhook_attempts WHERE merchant_id = $1 AND delivery_id = wanted.id
           ORDER BY attempt DESC LIMIT 100
         ) AS tries
         ORDER BY tries."deliveryId", tries.attempt`,
});
