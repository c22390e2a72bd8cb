import Type from 'typebox';
import { mapRows } from '../api/list-reader.ts';
import { listRoute } from '../api/list-route.ts';
import { readRoute, writeRoute, type ApiRoute } from '../api/route.ts';
import { deletedSchema, optional, orNull, urlType } from '../api/wire-types.ts';
import { defaultEventKinds } from '../events/kinds.ts';
import type { WebhookContext } from './context.ts';
import { endpointToWire } from './endpoint.ts';
import { readEndpointHealth } from './endpoint-health.ts';
import { createEndpoint, deleteEndpoint, getEndpoint, listEndpoints, updateEndpoint } from './manage-endpoints.ts';
import { sendTestEvent } from './resend-event.ts';
import { endSecretOverlap, overlapHoursDefault, overlapHoursMax, rotateSecret } from './rotate-secret.ts';
import {
  descriptionType,
  enabledEventsType,
  endpointSchema,
  endpointStatusType,
  endpointWithHealthSchema,
  endpointWithSecretSchema,
  testEventSchema,
} from './wire-schemas.ts';

const tag = 'Webhook endpoints';

const create = writeRoute('POST', {
  path: '/v1/webhook-endpoints',
  operationId: 'createWebhookEndpoint',
  auditedAs: 'webhook_endpoint',
  scope: 'charge',
  tag,
  summary: 'Create a webhook endpoint',
  description: 'Returns the signing secret, which cannot be retrieved again.',
  body: Type.Object(
    {
      url: urlType('The URL that receives the events.'),
      description: Type.Optional({ ...descriptionType, default: '' }),
      enabled_events: optional(enabledEventsType, { default: [...defaultEventKinds] }),
    },
    { additionalProperties: false },
  ),
  status: 201,
  response: endpointWithSecretSchema,
  errors: ['url_not_allowed', 'state_conflict'],
  async handle(context: WebhookContext, { caller, body }, tx) {
    const { url, description: text, enabled_events: kinds } = body;
    const request = { url, description: text, enabledEvents: kinds };
    const { endpoint, secret } = await createEndpoint(tx, context, caller, request);
    return endpointToWire(endpoint, caller.testMode, secret);
  },
});

const list = listRoute({
  path: '/v1/webhook-endpoints',
  operationId: 'listWebhookEndpoints',
  tag,
  summary: 'List webhook endpoints, newest first',
  item: endpointWithHealthSchema,
  async read(context: WebhookContext, { caller, page }) {
    const endpoints = await listEndpoints(context.db, caller.merchantId, page);
    const health = await readEndpointHealth(context.db, caller.merchantId, endpoints.rows);
    return mapRows(endpoints, (endpoint) => ({
      ...endpointToWire(endpoint, caller.testMode),
      health: health.get(endpoint.id),
    }));
  },
});

const retrieve = readRoute({
  path: '/v1/webhook-endpoints/:id',
  operationId: 'retrieveWebhookEndpoint',
  tag,
  summary: 'Retrieve a webhook endpoint',
  response: endpointWithHealthSchema,
  async handle(context: WebhookContext, { caller, params }) {
    const endpoint = await getEndpoint(context.db, caller.merchantId, params.id);
    const health = await readEndpointHealth(context.db, caller.merchantId, [endpoint]);
    return { ...endpointToWire(endpoint, caller.testMode), health: health.get(endpoint.id) };
  },
});

const update = writeRoute('PUT', {
  path: '/v1/webhook-endpoints/:id',
  operationId: 'updateWebhookEndpoint',
  auditedAs: 'webhook_endpoint',
  scope: 'charge',
  tag,
  summary: 'Update a webhook endpoint',
  description: 'Send only what changes. Events are retained while the endpoint is disabled.',
  body: Type.Object(
    {
      url: Type.Optional(orNull(urlType('The URL that receives the events.'))),
      description: Type.Optional(descriptionType),
      enabled_events: Type.Optional(orNull(enabledEventsType)),
      status: Type.Optional(endpointStatusType),
    },
    { additionalProperties: false },
  ),
  response: endpointSchema,
  errors: ['url_not_allowed'],
  async handle(context: WebhookContext, { caller, params, body }, tx) {
    const { url, description: text, enabled_events: kinds, status: newStatus } = body;
    const change = { url, description: text, enabledEvents: kinds, status: newStatus };
    return endpointToWire(await updateEndpoint(tx, context, caller, { id: params.id, change }), caller.testMode);
  },
});

const remove = writeRoute('DELETE', {
  path: '/v1/webhook-endpoints/:id',
  operationId: 'deleteWebhookEndpoint',
  auditedAs: 'webhook_endpoint',
  scope: 'charge',
  tag,
  summary: 'Delete a webhook endpoint',
  response: deletedSchema,
  errors: ['state_conflict'],
  async handle(context: WebhookContext, { caller, params }, tx) {
    await deleteEndpoint(tx, context, caller, params.id);
    return { id: params.id, deleted: true };
  },
});

const rotate = writeRoute('POST', {
  path: '/v1/webhook-endpoints/:id/rotate-secret',
  operationId: 'rotateWebhookSecret',
  auditedAs: 'webhook_endpoint',
  scope: 'charge',
  tag,
  summary: 'Rotate the secret of a webhook endpoint',
  description: 'Both secrets sign until the overlap ends. Returns the new secret, which cannot be retrieved again.',
  body: Type.Object(
    {
      overlap_hours: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: overlapHoursMax,
          default: overlapHoursDefault,
          description: `How many hours the old secret keeps signing too; defaults to ${overlapHoursDefault}.`,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  response: endpointWithSecretSchema,
  errors: ['state_conflict'],
  async handle(context: WebhookContext, { caller, params, body }, tx) {
    const request = { id: params.id, overlapHours: body.overlap_hours };
    const { endpoint, secret } = await rotateSecret(tx, context, caller, request);
    return endpointToWire(endpoint, caller.testMode, secret);
  },
});

const endOverlap = writeRoute('POST', {
  path: '/v1/webhook-endpoints/:id/end-overlap',
  operationId: 'endWebhookSecretOverlap',
  auditedAs: 'webhook_endpoint',
  scope: 'charge',
  tag,
  summary: 'End the overlap of two secrets',
  description: 'Within two seconds, only the new secret signs.',
  response: endpointSchema,
  async handle(context: WebhookContext, { caller, params }, tx) {
    return endpointToWire(await endSecretOverlap(tx, context, caller, params.id), caller.testMode);
  },
});

const test = writeRoute('POST', {
  path: '/v1/webhook-endpoints/:id/test',
  operationId: 'testWebhookEndpoint',
  scope: 'charge',
  tag,
  summary: 'Send a webhook endpoint a test event',
  description: 'Sent to this endpoint alone, whatever it subscribes to. Retrieve the event to see the response.',
  status: 201,
  response: testEventSchema,
  errors: ['state_conflict'],
  async handle(context: WebhookContext, { caller, params }, tx) {
    return { event_id: await sendTestEvent(tx, context, caller, params.id) };
  },
});

export const endpointRoutes: readonly ApiRoute<WebhookContext>[] = [
  create,
  list,
  retrieve,
  update,
  remove,
  rotate,
  endOverlap,
  test,
];
