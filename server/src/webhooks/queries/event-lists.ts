import type { EventKind } from '../../events/kinds.ts';
import { addMs } from '../../kit/clock.ts';
import type { Queryable } from '../../kit/db.ts';
import { firstIdAt } from '../../kit/ids.ts';
import { columnPart, commonParts, listClause } from '../../kit/list-clause.ts';
import type { Clause, ClausePart } from '../../kit/list-clause.ts';
import type { DeliveryStatus } from '../delivery.ts';

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

/** What a list may be narrowed by; absent is no filter. */
export interface EventFilter {
  kind?: EventKind;
  objectId?: string;
  /** With a delivery to this endpoint's own URL. */
  endpointId?: string;
  /** With a delivery in this state: to that endpoint where one is named. */
  status?: DeliveryStatus;
  from?: Date;
  to?: Date;
}

/** Where a page begins; `after` turns the order around. */
export interface EventPage {
  before: string | null;
  after: string | null;
  offset: number;
  rowsMax: number;
}

const columns = `events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText"`;

// An id is made a moment before its event's time is read, and never goes back with the clock.
const idSlackMs = 60_000;

/** Newest first, or oldest first behind `after`: ids count up with time, so an index that ends with the id is the order. */
export function listEventRows(
  db: Queryable,
  merchantId: string,
  filter: EventFilter,
  page: EventPage,
): Promise<EventRow[]> {
  const { name, from, text, values, order } = eventClause(filter, page);
  return db.rows<EventRow>({
    name: `webhook_events_list_${name}`,
    text: `SELECT ${columns} FROM ${from} WHERE ${text} ORDER BY ${order}
           LIMIT $${values.length + 2} OFFSET $${values.length + 3}`,
    values: [merchantId, ...values, page.rowsMax, page.offset],
  });
}

/** Counts up to `countMax`, so that a long list costs no more than that. */
export async function countEvents(
  db: Queryable,
  merchantId: string,
  filter: EventFilter,
  options: { after: string | null; countMax: number },
): Promise<number> {
  const { name, from, text, values, order } = eventClause(filter, { before: null, after: options.after });
  const row = await db.row<{ count: bigint }>({
    name: `webhook_events_count_${name}`,
    // In the order of the list: without it the planner reads the whole table for what few of the rows have.
    text: `SELECT count(*) AS count FROM (
             SELECT 1 FROM ${from} WHERE ${text} ORDER BY ${order} LIMIT $${values.length + 2}
           ) AS counted`,
    values: [merchantId, ...values, options.countMax],
  });
  return Number(row?.count ?? 0n);
}

export function findEventById(db: Queryable, merchantId: string, id: string): Promise<EventRow | undefined> {
  return db.row<EventRow>({
    name: 'webhook_events_find',
    text: `SELECT ${columns} FROM events WHERE merchant_id = $1 AND id = $2`,
    values: [merchantId, id],
  });
}

/** The same, and until the transaction ends the event is not deleted. Waits for a deletion that is under way. */
export function shareEventById(db: Queryable, merchantId: string, id: string): Promise<EventRow | undefined> {
  return db.row<EventRow>({
    name: 'webhook_events_share',
    text: `SELECT ${columns} FROM events WHERE merchant_id = $1 AND id = $2 FOR KEY SHARE`,
    values: [merchantId, id],
  });
}

interface EventClause extends Clause {
  from: string;
  order: string;
}

/**
 * What one endpoint has missed has an index of its own, so that a list of it is read from there. Every other delivery is
 * looked up from its event, one probe each.
 */
function eventClause(filter: EventFilter, page: Pick<EventPage, 'before' | 'after'>): EventClause {
  const { endpointId, status } = filter;
  const isOfMissed = endpointId !== undefined && (status === 'failed' || status === 'kept');
  const id = isOfMissed ? 'missed.event_id' : 'events.id';
  const parts: ClausePart[] = [
    ...(isOfMissed ? missedParts(endpointId, status) : []),
    ...timeParts(id, filter),
    ...(page.before === null ? [] : [columnPart('before', `${id} ${page.after === null ? '<' : '>'}`, page.before)]),
    ...(page.after === null ? [] : [columnPart('after', `${id} >`, page.after)]),
    ...(filter.kind === undefined ? [] : [columnPart('kind', 'events.kind =', filter.kind)]),
    ...(filter.objectId === undefined ? [] : [columnPart('object', 'events.object_id =', filter.objectId)]),
    ...(isOfMissed ? [] : deliveryParts(filter)),
  ];
  const clause = listClause(parts);
  const order = `${id} ${page.after === null ? 'DESC' : 'ASC'}`;
  if (!isOfMissed) return { ...clause, from: 'events', order, text: `events.merchant_id = $1 ${clause.text}` };
  const from = `webhook_deliveries AS missed
    JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id`;
  return { ...clause, from, order, text: `missed.merchant_id = $1 ${clause.text}` };
}

/** The times between which an event happened, as times and as the ids that were made about then. */
export function timeParts(id: string, { from, to }: Pick<EventFilter, 'from' | 'to'>): ClausePart[] {
  return [
    ...commonParts('events', { ...(from && { from }), ...(to && { to }) }, null),
    ...(from === undefined ? [] : [columnPart('from_id', `${id} >=`, firstIdAt(addMs(from, -idSlackMs)))]),
    ...(to === undefined ? [] : [columnPart('to_id', `${id} <`, firstIdAt(addMs(to, idSlackMs)))]),
  ];
}

function missedParts(endpointId: string, status: DeliveryStatus): ClausePart[] {
  return [
    columnPart('missed', `missed.callback_url IS NULL AND missed.endpoint_id =`, endpointId),
    // The first half is what the index is of.
    columnPart('status', `missed.status IN ('kept', 'failed') AND missed.status =`, status),
  ];
}

/** A value and not an EXISTS, so that it stays one probe for each event, made as the page needs it. */
function deliveryParts({ endpointId, status }: EventFilter): ClausePart[] {
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
