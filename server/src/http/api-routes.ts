import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { maskedChanges } from '../audit/masked-fields.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { assert } from '../kit/assert.ts';
import { bareAddress } from '../kit/client-address.ts';
import type { Transaction } from '../kit/db.ts';
import { methodOf } from '../kit/head-requests.ts';
import type { Log } from '../kit/log.ts';
import { RouteMethods } from '../kit/route-methods.ts';
import type { KeyScope } from '../api/key-scope.ts';
import type { ApiRequest, BoundRoute, CsvFile, FileResponse } from '../api/route.ts';
import type { KeyAuthenticator, KeyHolder } from '../merchants/authenticate-key.ts';
import { keyName, type KeyAddresses } from '../merchants/key-addresses.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import type { RequestLog } from '../request-log/request-log.ts';
import { prefersCsv } from './accept.ts';
import { methodNotAllowed, unknownPath } from './error-responses.ts';
import { readIdempotencyKey } from './idempotency.ts';
import type { KeylessLimit, KeylessPermit } from './keyless-limit.ts';
import type { RateLimiter } from './rate-limit.ts';
import { inQueue, runRoute, type JsonRoute, type RunContext } from './run-route.ts';
import {
  canonicalParams,
  coerceQuery,
  defaultBody,
  headerCount,
  noParameters,
  parseBodiesStrictly,
  refuseBody,
} from './read-request.ts';

// Of the longest idempotency key, and of an address that is worth reading.
const loggedKeyLengthMax = 255;
const loggedPathLengthMax = 500;

export interface ApiOptions extends RunContext {
  log: Log;
  authenticator: KeyAuthenticator;
  keyUses: KeyUses;
  keyAddresses: KeyAddresses;
  newId: () => string;
  requestLog: RequestLog;
  keylessLimit: KeylessLimit;
  rateLimiter: RateLimiter;
  routes: readonly BoundRoute[];
}

/**
 * The API under /v1. Every request takes the same steps: authenticate, apply the rate limit, check the key's scope, parse and
 * validate, run the route's handler (a writing one inside its transaction), respond.
 */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  parseBodiesStrictly(app);
  const methods = new RouteMethods();
  for (const { path: url, method } of options.routes) methods.add({ url, method });
  app.addHook('onRequest', async (request, reply) => {
    refuseOtherPaths(request, methods);
    const holder = await authenticate(options, request, reply);
    request.merchant = holder.merchant;
    request.keyScopes = holder.scopes;
    request.apiKeyId = holder.keyId;
    request.apiKeyName = keyName(holder.lastFour);
    await options.keyAddresses.note(holder, { address: request.ip, requestId: request.id });
    const allowance = await options.rateLimiter.take(holder);
    if (!allowance) return;
    reply.headers(allowance.headers);
    if (allowance.refusal) throw allowance.refusal;
  });
  logRequests(app, options.requestLog);
  for (const route of options.routes) registerRoute(app, options, route);
  refuseOtherMethods(app, methods, options.routes);
}

/** Notes each request of a merchant once its response was sent. */
function logRequests(app: FastifyInstance, requestLog: RequestLog): void {
  app.addHook('onSend', async (request, _reply, payload) => {
    if (typeof payload === 'string') request.responseText = payload;
  });
  app.addHook('onResponse', async (request, reply) => {
    const { merchant, apiKeyId } = request;
    if (!merchant || apiKeyId === null) return;
    const [path = '', ...rest] = request.url.split('?');
    const key = request.headers['idempotency-key'];
    requestLog.note({
      ...{ merchantId: merchant.id, requestId: request.id, keyId: apiKeyId, query: rest.join('?') },
      method: methodOf(request.raw),
      path: path.toLowerCase().slice(0, loggedPathLengthMax),
      statusCode: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime),
      idempotencyKey: typeof key === 'string' ? key.slice(0, loggedKeyLengthMax) : null,
      requestBody: request.body,
      requestBytes: request.bodyBytes,
      responseText: request.responseText,
    });
  });
}

/**
 * The merchant and key of the request (docs/api.md, "API keys"). Throws AppError `api_key_missing`; `api_key_invalid`, which
 * does not distinguish a mistyped key from an unknown or revoked one; `address_not_allowed`; `rate_limited` for an address that has
 * sent too many requests without a key that is valid there; and `invalid_request` for two headers (RFC 6750, section 3.1), of
 * which a proxy might read the other one.
 */
async function authenticate(
  { authenticator, keylessLimit, keyUses, clock }: ApiOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<KeyHolder> {
  const header = request.headers.authorization;
  if (headerCount(request, 'authorization') > 1) {
    throw new AppError('invalid_request', 'Send one Authorization header, not several.');
  }
  const key = header === undefined ? undefined : /^Bearer (\S+)$/i.exec(header)?.[1];
  const cachedStatus = key === undefined ? 'invalid' : authenticator.cachedStatus(key);
  const takePermit = (): KeylessPermit => keylessLimit.take(request.ip, { isNew: cachedStatus === 'new' });
  // A key that was valid a moment ago is never limited by other requests from its address.
  let permit = cachedStatus === 'valid' ? undefined : takePermit();
  if (permit?.refusal) {
    reply.headers(permit.headers);
    throw permit.refusal;
  }
  const holder = key === undefined ? 'invalid' : await authenticator.find(key);
  const address = bareAddress(request.ip ?? '');
  if (typeof holder === 'object' && holder.allows(address)) {
    permit?.release?.();
    keyUses.note({ merchantId: holder.merchant.id, keyId: holder.keyId, usedAt: clock.now(), address });
    return holder;
  }
  permit ??= takePermit();
  reply.headers(permit.headers);
  // A key that is valid elsewhere stays so: only the limit stops whoever sends it from here.
  if (typeof holder === 'object' && permit.refusal) throw permit.refusal;
  if (header === undefined) {
    throw new AppError('api_key_missing', 'Send your secret key as "Authorization: Bearer sk_test_…".');
  }
  if (key === undefined) {
    throw new AppError('api_key_invalid', 'Write the header as: Authorization: Bearer <key>.');
  }
  throw refusalOf(holder);
}

function refusalOf(holder: KeyHolder | 'expired' | 'invalid'): AppError {
  if (holder === 'expired') {
    return new AppError('api_key_invalid', 'This API key has expired. Use the key that replaced it, or a new one.');
  }
  if (holder === 'invalid') {
    const message = 'This API key is not valid. Check that it was copied whole and is not revoked.';
    return new AppError('api_key_invalid', message);
  }
  return new AppError('address_not_allowed', 'This API key is not allowed from the address that you send from.');
}

/** Throws AppError `scope_missing`. */
function requireScope({ keyScopes }: FastifyRequest, scope: KeyScope): void {
  if (keyScopes?.includes(scope)) return;
  const message = `This API key lacks the scope ${scope}, which this request requires. Use another key, or create one with the scope.`;
  throw new AppError('scope_missing', message);
}

function registerRoute(app: FastifyInstance, options: ApiOptions, route: BoundRoute): void {
  const { params, query: querystring, body } = route;
  app.route({
    method: route.method,
    url: route.path,
    schema: {
      ...(params === undefined ? {} : { params }),
      querystring: querystring ?? noParameters,
      ...(body === undefined ? {} : { body }),
    },
    // After the hook of `registerApi`, which has found the key.
    onRequest: async (request) => requireScope(request, route.scope),
    preValidation: async (request) => {
      request.params = canonicalParams(request.params);
      coerceQuery(request.query, querystring);
      if (body === undefined) refuseBody(request);
      else if (request.body === undefined) request.body = defaultBody(route);
    },
    handler: async (request, reply) => {
      if (route.kind === 'file') return sendFile(reply, await route.handle(route.context, toApiRequest(request)));
      if (route.kind === 'read' && route.csv) {
        const { context, csv } = route;
        reply.header('vary', 'accept');
        if (prefersCsv(request.headers.accept)) {
          const input = toApiRequest(request);
          const file = await inQueue(options, route, input.caller.merchantId, () => csv(context, input));
          await options.db.withTransaction(async (tx) => recordKeyAct(tx, options, request, { route }));
          return sendCsv(reply, file);
        }
      }
      const response = await runRoute(options, route, {
        requestId: request.id,
        input: toApiRequest(request),
        sentBody: request.body,
        idempotencyKey: idempotencyKeyOf(request, route),
        ...(route.auditedAs !== undefined && {
          alsoWrite: (tx, text) => recordKeyAct(tx, options, request, { route, responseText: text }),
        }),
      });
      if (response.replayed) reply.header('idempotent-replayed', 'true');
      return reply.code(response.statusCode).type('application/json; charset=utf-8').send(response.body);
    },
  });
}

/** Writes the audit entry of what an API key does, in the transaction of its effect. */
function recordKeyAct(
  tx: Transaction,
  context: Pick<ApiOptions, 'clock' | 'newId'>,
  request: FastifyRequest,
  { route, responseText }: { route: BoundRoute; responseText?: string },
): void {
  const { merchant, apiKeyId, apiKeyName } = request;
  assert(merchant, 'a request of the API has a merchant');
  const created = responseText === undefined ? undefined : (JSON.parse(responseText) as { id?: unknown }).id;
  const named = (request.params as { id?: string }).id;
  const objectId = named ?? (typeof created === 'string' ? created : null);
  recordAudit(tx, context, {
    ...{ businessId: merchant.businessId, testMode: merchant.testMode, actorType: 'key', actorId: apiKeyId },
    ...{
      actorName: apiKeyName ?? 'API key',
      action: route.operationId,
      objectType: route.auditedAs ?? 'list',
      objectId,
    },
    changes: maskedChanges(request.body ?? request.query, 'unknown'),
    ...{ sessionId: null, requestId: request.id, address: request.ip },
  });
}

function sendCsv(reply: FastifyReply, { name, text }: CsvFile): FastifyReply {
  return sendFile(reply, { name, contentType: 'text/csv; charset=utf-8', bytes: Buffer.from(text) });
}

function sendFile(reply: FastifyReply, { name, contentType, bytes }: FileResponse): FastifyReply {
  return reply
    .code(200)
    .header('content-disposition', `attachment; filename="${name}"`)
    .type(contentType)
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

function idempotencyKeyOf(request: FastifyRequest, route: JsonRoute): string | null {
  return route.method === 'POST' ? readIdempotencyKey(request, route.idempotencyKeyRequired ?? false) : null;
}

function toApiRequest(request: FastifyRequest): ApiRequest<unknown, unknown, unknown> {
  const { merchant, params, query, body } = request;
  if (!merchant) throw new Error('an API route ran without a merchant');
  return { caller: { merchantId: merchant.id, testMode: merchant.testMode }, params, query, body };
}

/** What no route takes. A route of each path for its wrong methods would double the work of a start. */
const otherPath = '/v1/*';
// HEAD is served as GET, and CONNECT reaches no route.
const allMethods = METHODS.filter((method) => method !== 'HEAD' && method !== 'CONNECT');

/** Answers 405 with the allowed methods, after the key was checked, at a path that exists. */
function refuseOtherMethods(app: FastifyInstance, methods: RouteMethods, routes: readonly BoundRoute[]): void {
  const refuse = (url: string, refused: readonly string[], allowedAt: (path: string) => string[]): void => {
    app.route({
      ...{ method: [...refused], url },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const allowed = allowedAt(request.url);
        reply.header('allow', allowed.join(', '));
        throw methodNotAllowed(allowed);
      },
    });
  };
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const allowedAt = (path: string) => methods.at(path).filter((method) => method !== 'HEAD');
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const allowed: string[] = ofPath.map((route) => route.method);
    // `GET /v1/payments/preview` would be the payment whose id is `preview`.
    if (allowedAt(path).every((method) => allowed.includes(method))) continue;
    const refused = allMethods.filter((method) => !allowed.includes(method));
    refuse(path, refused, () => allowed);
  }
  refuse(otherPath, allMethods, allowedAt);
}

/** Throws AppError `not_found` at a path that does not exist, whoever asks. */
function refuseOtherPaths({ routeOptions, method, url }: FastifyRequest, methods: RouteMethods): void {
  if (routeOptions.url !== otherPath) return;
  const allowed = methods.at(url);
  if (allowed.length === 0 || allowed.includes(method)) throw unknownPath();
}
