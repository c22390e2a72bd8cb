import swagger from '@fastify/swagger';
import Fastify from 'fastify';
import Type, { type TSchema } from 'typebox';
import { errorCodes, type ErrorCode } from '../api/error-codes.ts';
import type { ApiRoute } from '../api/route.ts';
import { isBodyOptional } from './read-request.ts';

/** Errors that every route may return besides its own. */
const commonErrors: readonly ErrorCode[] = [
  'invalid_request',
  'unknown_field',
  'api_key_missing',
  'api_key_invalid',
  'scope_missing',
  'address_not_allowed',
  'rate_limited',
  'internal_error',
  'unavailable',
];
const bodyErrors: readonly ErrorCode[] = ['invalid_json', 'body_too_large', 'unsupported_media_type'];
const keyErrors: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_in_progress',
  'idempotency_key_reused',
];

const errorSchema = Type.Object(
  {
    message: Type.String({ description: 'One sentence that says what to do.' }),
    statusCode: Type.Integer(),
    code: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
    request_id: Type.String(),
    doc_url: Type.String(),
  },
  { title: 'Error' },
);

/** Generates the API's OpenAPI 3.1 document from the routes and the schemas of the events, by kind. */
export async function describeApi(
  routes: readonly ApiRoute<never>[],
  eventBodies: Readonly<Record<string, TSchema>> = {},
): Promise<object> {
  const app = Fastify();
  // No handler runs here: to compile the schemas of all routes would take 0.15 s.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Dalasi',
        version: '1',
        description:
          'Mobile-money payments. The key chooses the environment: `sk_test_…` sees test records only, `sk_live_…` ' +
          'live ones. Each operation requires a scope of the key: `read`, `charge` or `payout`. ' +
          'Amounts are dalasi with at most two decimals.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { secretKey: { type: 'http', scheme: 'bearer' } } },
      security: [{ secretKey: [] }],
    },
  });
  for (const route of routes) {
    app.route({ method: route.method, url: route.path, schema: schemaOf(route), handler: async () => undefined });
  }
  await app.ready();
  const document = app.swagger();
  await app.close();
  markOptionalBodies(document, routes);
  return withNamedSchemas({ ...document, webhooks: webhooksOf(eventBodies) });
}

/** The generator calls every body required. */
function markOptionalBodies({ paths = {} }: { paths?: object }, routes: readonly ApiRoute<never>[]): void {
  const optional = new Set(routes.filter(isBodyOptional).map(({ operationId }) => operationId));
  type Operation = { operationId: string; requestBody?: { required: boolean } };
  const operations = (Object.values(paths) as Record<string, Operation>[]).flatMap((path) => Object.values(path));
  for (const { operationId, requestBody } of operations) {
    if (requestBody && optional.has(operationId)) requestBody.required = false;
  }
}

/** The requests that Dalasi sends to the merchant's server. */
function webhooksOf(eventBodies: Readonly<Record<string, TSchema>>): object {
  return Object.fromEntries(
    Object.entries(eventBodies).map(([kind, schema]) => {
      const requestBody = { required: true, content: { 'application/json': { schema } } };
      const responses = { '2XX': { description: 'Delivered. Anything else is tried again.' } };
      return [kind, { post: { summary: kind, security: [], requestBody, responses } }];
    }),
  );
}

/**
 * Moves each schema with a title to `components`, and refers to it. The description of a response, which the generator of the
 * document wants in its schema, stays with the response.
 */
function withNamedSchemas(document: object): object {
  const schemas: Record<string, unknown> = {};
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist);
    if (typeof value !== 'object' || value === null) return value;
    const { title, description: _ofResponse, ...rest } = value as Record<string, unknown>;
    if (typeof title !== 'string' || rest['type'] !== 'object') {
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, hoist(part)]));
    }
    schemas[title] ??= hoist(rest);
    return { $ref: `#/components/schemas/${title}` };
  };
  const { paths, webhooks, components, ...head } = document as Record<string, unknown>;
  const hoisted = { paths: hoist(paths), webhooks: hoist(webhooks) };
  return { ...head, ...hoisted, components: { ...(components as object), schemas } };
}

function schemaOf(route: ApiRoute<never>): object {
  const takesKey = route.method === 'POST';
  const key = Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'A retry with the same key has no second effect.',
  });
  const keyHeader = Type.Object({ 'idempotency-key': route.idempotencyKeyRequired ? key : Type.Optional(key) });
  const { params, query, body } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    // OpenAPI 3.1, "Security Requirement Object": roles of a scheme that is not OAuth.
    security: [{ secretKey: [route.scope] }],
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body }),
    ...(takesKey ? { headers: keyHeader } : {}),
    response: { ...successResponses(route), ...errorResponses(route) },
  };
}

function successResponses(route: ApiRoute<never>): Record<string, object> {
  if (route.kind === 'file') return { 200: fileResponse(route.contentTypes) };
  return {
    ...(route.canReturnExisting ? { 200: { description: 'It existed already.', ...route.response } } : {}),
    [route.status]: successResponse(route),
  };
}

function fileResponse(contentTypes: readonly string[]): object {
  // Generators of clients know bytes by the format, and would decode text.
  const schemaOfBytes = (type: string) => Type.String({ format: 'binary', contentMediaType: type });
  const content = contentTypes.map((type) => [type, { schema: schemaOfBytes(type) }] as const);
  return { description: 'The file.', content: Object.fromEntries(content) };
}

function successResponse(route: Exclude<ApiRoute<never>, { kind: 'file' }>): object {
  const description = 'The request succeeded.';
  if (route.kind !== 'read' || !route.csv) return { description, ...route.response };
  const table = Type.String({ description: 'The same as CSV, for `Accept: text/csv`.' });
  return {
    description,
    content: { 'application/json': { schema: route.response }, 'text/csv': { schema: table } },
  };
}

function errorResponses(route: ApiRoute<never>): Record<string, object> {
  const codes: ErrorCode[] = [
    ...commonErrors,
    ...(route.params === undefined ? [] : (['not_found'] as const)),
    ...(route.errors ?? []),
    // Also a route without a body parses one, to refuse it.
    ...(route.method === 'GET' ? [] : bodyErrors),
    ...(route.method === 'POST' ? keyErrors : []),
  ];
  const byStatus = Map.groupBy(new Set(codes), (code) => errorCodes[code].status);
  const responses: Record<string, object> = {};
  for (const [status, those] of byStatus) {
    responses[status] = { description: those.map((code) => `\`${code}\``).join(', '), ...errorSchema };
  }
  return responses;
}
