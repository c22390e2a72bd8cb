import Type from 'typebox';
import { eventKinds } from '../events/kinds.ts';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { JsonText, readRoute, writeRoute, type ApiRoute, type Caller } from '../api/route.ts';
import type { Queryable } from '../kit/db.ts';
import { readTimeRange, timeRange } from '../api/time-range.ts';
import { idType } from '../api/wire-types.ts';
import type { WebhookContext } from './context.ts';
import { readKind } from './enabled-events.ts';
import { eventToText, getEvent, listEvents } from './list-events.ts';
import { resendEvent } from './resend-event.ts';
import { resendEvents } from './resend-events.ts';
import {
  deliveryStatusType,
  eventSchema,
  eventWithTriesSchema,
  kindNameType,
  resentEventsSchema,
} from './wire-schemas.ts';

const tag = 'Event log';

const list = listRoute({
  path: '/v1/events',
  operationId: 'listEvents',
  tag,
  summary: 'List events, newest first',
  description: 'Returns each event with its deliveries. With `after`, returns the events after that one, oldest first.',
  filters: {
    event: Type.Optional(Type.String({ maxLength: 64, description: 'Events of this type.' })),
    object_id: Type.Optional(idType('Events of this record.')),
    endpoint_id: Type.Optional(idType('Events with a delivery to this webhook endpoint.')),
    status: Type.Optional(deliveryStatusType),
    ...timeRange('Happened'),
    after: Type.Optional(idType('Events after this one, oldest first. Use it to follow new events.')),
  },
  item: eventSchema,
  async read(context: WebhookContext, { caller, query, page }) {
    const events = await listEvents(context, caller.merchantId, page, {
      kind: query.event === undefined ? undefined : readKind(query.event, 'event'),
      objectId: query.object_id,
      endpointId: query.endpoint_id,
      status: query.status,
      after: query.after,
      ...readTimeRange(query),
    });
    return mapRows(events, (sent) => eventToText(sent, caller.testMode));
  },
  recordsAreText: true,
});

const retrieve = readRoute({
  path: '/v1/events/:id',
  operationId: 'retrieveEvent',
  tag,
  summary: 'Retrieve an event with every attempt',
  response: eventWithTriesSchema,
  async handle(context: WebhookContext, { caller, params }) {
    return readEvent(context.db, caller, params.id);
  },
});

const resend = writeRoute('POST', {
  path: '/v1/events/:id/resend',
  operationId: 'resendEvent',
  scope: 'charge',
  tag,
  summary: 'Resend an event',
  description:
    'Resends to one webhook endpoint, or to every enabled endpoint that subscribes to the event or has ' +
    'received it, and to the callback URL. The retry schedule starts again; an attempt in progress is ' +
    'not interrupted.',
  body: Type.Object(
    { endpoint_id: Type.Optional(idType('The only endpoint to resend to.')) },
    { additionalProperties: false },
  ),
  response: eventWithTriesSchema,
  errors: ['state_conflict'],
  async handle(context: WebhookContext, { caller, params, body }, tx) {
    await resendEvent(tx, context, caller.merchantId, { id: params.id, endpointId: body.endpoint_id });
    return readEvent(tx, caller, params.id);
  },
});

const resendMany = writeRoute('POST', {
  path: '/v1/events/resend',
  operationId: 'resendEvents',
  scope: 'charge',
  tag,
  summary: 'Resend events in bulk',
  description: 'Resends to one webhook endpoint, oldest first, at most 10,000 events in one call.',
  body: Type.Object(
    {
      endpoint_id: idType('The webhook endpoint.'),
      event: Type.Optional(
        Type.Array(kindNameType, {
          minItems: 1,
          maxItems: eventKinds.length,
          description:
            'Event types to resend. Defaults to all that the endpoint missed; with status `all`, to what it ' +
            'subscribes to.',
        }),
      ),
      ...timeRange('Happened'),
      status: Type.Optional(
        Type.Union([Type.Literal('undelivered'), Type.Literal('all')], {
          default: 'undelivered',
          description:
            '`undelivered` (default): failed and kept events. `all`: also delivered ones and those never sent to it.',
        }),
      ),
      dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only counts, without resending.' })),
    },
    { additionalProperties: false },
  ),
  response: resentEventsSchema,
  errors: ['state_conflict'],
  async handle(context: WebhookContext, { caller, body }, tx) {
    const isDryRun = body.dry_run ?? false;
    const outcome = await resendEvents(tx, context, caller.merchantId, {
      endpointId: body.endpoint_id,
      kinds: body.event,
      ...readTimeRange(body),
      status: body.status,
      isDryRun,
    });
    return {
      dry_run: isDryRun,
      endpoint_id: body.endpoint_id.toLowerCase(),
      matched: outcome.matched,
      resent: outcome.resent,
      continue_from: outcome.continueFrom?.toISOString() ?? null,
    };
  },
});

async function readEvent(db: Queryable, caller: Caller, id: string): Promise<JsonText> {
  const sent = await getEvent(db, caller.merchantId, id);
  return new JsonText(eventToText(sent, caller.testMode, sent.tries));
}

export const eventRoutes: readonly ApiRoute<WebhookContext>[] = [list, retrieve, resend, resendMany];
