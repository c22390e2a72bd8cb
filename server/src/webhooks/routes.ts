import Type from 'typebox';
import { eventKinds } from '../events/kinds.ts';
import type { Queryable } from '../kit/db.ts';
import { pageParameters, pageRequest, pageSchema, pageToWire } from '../kit/pagination.ts';
import { readRoute, writeRoute } from '../kit/route.ts';
import type { ApiRoute } from '../kit/route.ts';
import { idParameters, idType, orNull, timeType, urlType } from '../kit/wire-types.ts';
import { createEndpoint } from './create-endpoint.ts';
import { deleteEndpoint } from './delete-endpoint.ts';
import { descriptionLengthMax, endpointToWire } from './endpoint.ts';
import type { EndpointContext } from './endpoint.ts';
import { getEndpoint, listEndpoints } from './find-endpoint.ts';
import { endSecretOverlap, overlapHoursDefault, overlapHoursMax, rotateSecret } from './rotate-secret.ts';
import { updateEndpoint } from './update-endpoint.ts';

export interface EndpointRouteContext extends EndpointContext {
  db: Queryable;
}

const tag = 'Webhook endpoints';

const enabledEvents = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: eventKinds.length,
  description: 'The kinds of event it receives; null takes the five default ones.',
});
const description = Type.String({ maxLength: descriptionLengthMax, description: 'For your own eyes.' });
const status = Type.Union([Type.Literal('enabled'), Type.Literal('disabled')]);

const endpointFields = {
  id: idType('The endpoint.'),
  url: orNull(Type.String()),
  description: Type.String(),
  enabled_events: Type.Array(Type.String()),
  status,
  disabled_reason: orNull(Type.String()),
  is_default: Type.Boolean({ description: 'Its secret signs what goes to callback URLs.' }),
  test_mode: Type.Boolean(),
  createdAt: timeType('When it was created.'),
  updatedAt: timeType('When it last changed.'),
};
const endpointSchema = Type.Object(endpointFields, { title: 'WebhookEndpoint' });
const endpointWithSecretSchema = Type.Object(
  { ...endpointFields, secret: Type.String({ description: 'Signs the events. Shown once.' }) },
  { title: 'WebhookEndpointWithSecret' },
);

const create = writeRoute('POST', {
  path: '/v1/webhook-endpoints',
  operationId: 'createWebhookEndpoint',
  tag,
  summary: 'Create a webhook endpoint',
  description: 'Answers its secret, which cannot be read again.',
  body: Type.Object(
    {
      url: urlType('Where the events go.'),
      description: Type.Optional(description),
      enabled_events: Type.Optional(orNull(enabledEvents)),
    },
    { additionalProperties: false },
  ),
  status: 201,
  response: endpointWithSecretSchema,
  errors: ['url_not_allowed', 'state_conflict'],
  async handle(context: EndpointRouteContext, { caller, body }, tx) {
    const { url, description: text, enabled_events: kinds } = body;
    const request = { url, description: text, enabledEvents: kinds };
    const { endpoint, secret } = await createEndpoint(tx, context, caller, request);
    return endpointToWire(endpoint, caller.testMode, secret);
  },
});

const list = readRoute({
  path: '/v1/webhook-endpoints',
  operationId: 'listWebhookEndpoints',
  tag,
  summary: 'List webhook endpoints, newest first',
  query: Type.Object(pageParameters, { additionalProperties: false }),
  status: 200,
  response: pageSchema(endpointSchema),
  async handle(context: EndpointRouteContext, { caller, query }) {
    const page = pageRequest(query);
    const { rows, total } = await listEndpoints(context.db, caller.merchantId, page);
    return pageToWire(page, rows, total, (endpoint) => endpointToWire(endpoint, caller.testMode));
  },
});

const retrieve = readRoute({
  path: '/v1/webhook-endpoints/:id',
  operationId: 'retrieveWebhookEndpoint',
  tag,
  summary: 'Retrieve a webhook endpoint',
  params: idParameters,
  status: 200,
  response: endpointSchema,
  async handle(context: EndpointRouteContext, { caller, params }) {
    return endpointToWire(await getEndpoint(context.db, caller.merchantId, params.id), caller.testMode);
  },
});

const update = writeRoute('PUT', {
  path: '/v1/webhook-endpoints/:id',
  operationId: 'updateWebhookEndpoint',
  tag,
  summary: 'Change a webhook endpoint',
  description: 'What is left out stays as it is. While it is disabled its events are kept.',
  params: idParameters,
  body: Type.Object(
    {
      url: Type.Optional(orNull(urlType('Where the events go.'))),
      description: Type.Optional(description),
      enabled_events: Type.Optional(orNull(enabledEvents)),
      status: Type.Optional(status),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: endpointSchema,
  errors: ['url_not_allowed'],
  async handle(context: EndpointRouteContext, { caller, params, body }, tx) {
    const { url, description: text, enabled_events: kinds, status: newStatus } = body;
    const change = { url, description: text, enabledEvents: kinds, status: newStatus };
    return endpointToWire(await updateEndpoint(tx, context, caller, { id: params.id, change }), caller.testMode);
  },
});

const remove = writeRoute('DELETE', {
  path: '/v1/webhook-endpoints/:id',
  operationId: 'deleteWebhookEndpoint',
  tag,
  summary: 'Delete a webhook endpoint',
  params: idParameters,
  status: 200,
  response: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'Deleted' }),
  errors: ['state_conflict'],
  async handle(context: EndpointRouteContext, { caller, params }, tx) {
    await deleteEndpoint(tx, context, caller, params.id);
    return { id: params.id, deleted: true };
  },
});

const rotate = writeRoute('POST', {
  path: '/v1/webhook-endpoints/:id/rotate-secret',
  operationId: 'rotateWebhookSecret',
  tag,
  summary: 'Give a webhook endpoint a new secret',
  description: 'The old one verifies until the overlap ends. Answers the new one, which cannot be read again.',
  params: idParameters,
  body: Type.Object(
    {
      overlap_hours: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: overlapHoursMax,
          description: `Hours for which the old secret verifies too; ${overlapHoursDefault} unless told otherwise.`,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  status: 200,
  response: endpointWithSecretSchema,
  errors: ['state_conflict'],
  async handle(context: EndpointRouteContext, { caller, params, body }, tx) {
    const request = { id: params.id, overlapHours: body.overlap_hours };
    const { endpoint, secret } = await rotateSecret(tx, context, caller, request);
    return endpointToWire(endpoint, caller.testMode, secret);
  },
});

const endOverlap = writeRoute('POST', {
  path: '/v1/webhook-endpoints/:id/end-overlap',
  operationId: 'endWebhookSecretOverlap',
  tag,
  summary: 'End the overlap of two secrets',
  description: 'From the next delivery on only the new secret signs.',
  params: idParameters,
  status: 200,
  response: endpointSchema,
  async handle(context: EndpointRouteContext, { caller, params }, tx) {
    return endpointToWire(await endSecretOverlap(tx, context, caller, params.id), caller.testMode);
  },
});

export const endpointRoutes: readonly ApiRoute<EndpointRouteContext>[] = [
  create,
  list,
  retrieve,
  update,
  remove,
  rotate,
  endOverlap,
];
