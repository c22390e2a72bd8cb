import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import { bareAddress } from '../kit/client-address.ts';
import type { Log } from '../kit/log.ts';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import type { KeyedLimiter, LimiterFigures } from '../kit/keyed-limiter.ts';
import type { KeyScope } from '../api/key-scope.ts';
import { ExistingRecord, JsonText } from '../api/route.ts';
import type { ApiRequest, BoundRoute, CsvFile, FileResponse, MerchantQueue } from '../api/route.ts';
import type { KeyAuthenticator, KeyHolder } from '../merchants/authenticate-key.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import { prefersCsv } from './accept.ts';
import { errorBody, methodNotAllowed } from './error-responses.ts';
import { fingerprintOf } from './fingerprint.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import type { ReplayableResponse, IdempotencyContext } from './idempotency.ts';
import type { KeylessLimit, KeylessPermit } from './keyless-limit.ts';
import type { RateLimiter } from './rate-limit.ts';
import { coerceQuery, defaultBody, headerCount, parseBodiesStrictly, refuseBody } from './read-request.ts';

export interface ApiOptions extends IdempotencyContext {
  log: Log;
  authenticator: KeyAuthenticator;
  keyUses: KeyUses;
  keylessLimit: KeylessLimit;
  rateLimiter: RateLimiter;
  docsUrl: () => string;
  routes: readonly BoundRoute[];
  /** How many connections `db` has, two at least. */
  databaseConnections: number;
  /** Shows a limiter in `/metrics`. */
  watchLimiter: (limiter: LimiterFigures) => void;
}

// How many connections one merchant's requests that move money may use: six keep its balance busy without a gap. With 2, 3, 4, 6
// and 20 permits one merchant made 160, 189, 143, 191 and 158 transfers a second, a difference within measurement noise, while
// another merchant's transfers took 18, 16, 16, 13 and 24 ms. Never more than half of a small pool.
const balancePermits = 6;
// A statement of 200,000 lines occupies a connection for half a second; two leave the others to payments.
const historyPermits = 2;
// About one second of transfers at that rate, and as many statements as a dashboard page shows; this bounds the memory.
const waitingMax: Record<MerchantQueue, number> = { balance: 128, history: 32 };
const queueFullMessages: Record<MerchantQueue, string> = {
  balance: 'Too many of your requests that move money wait for each other. Send this one again in a second.',
  history: 'Too many of your statements are being read. Send this request again in a second.',
};

/**
 * The API under /v1. Every request takes the same steps: authenticate, apply the rate limit, check the key's scope, parse and
 * validate, run the route's handler (a writing one inside its transaction), respond.
 */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  parseBodiesStrictly(app);
  app.addHook('onRequest', async (request, reply) => {
    const holder = await authenticate(options, request, reply);
    request.merchant = holder.merchant;
    request.keyScopes = holder.scopes;
    const allowance = await options.rateLimiter.take(holder);
    if (!allowance) return;
    reply.headers(allowance.headers);
    if (allowance.refusal) throw allowance.refusal;
  });
  const half = Math.floor(options.databaseConnections / 2);
  const limiters: Limiters = {
    balance: merchantLimiter('balance', Math.min(balancePermits, half)),
    history: merchantLimiter('history', Math.min(historyPermits, half)),
  };
  for (const limiter of Object.values(limiters)) options.watchLimiter(limiter);
  for (const route of options.routes) registerRoute(app, options, route, limiters);
  refuseOtherMethods(app, options.routes);
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

type Limiters = Record<MerchantQueue, KeyedLimiter<string>>;

/** Requests that wait here hold no database connection, so that one merchant's queue leaves the pool to the others. */
function merchantLimiter(queue: MerchantQueue, each: number): KeyedLimiter<string> {
  const refusal = { code: 'unavailable', message: queueFullMessages[queue] } as const;
  return limitEachKey({ name: queue, each, waitingMax: waitingMax[queue], refusal });
}

function registerRoute(app: FastifyInstance, options: ApiOptions, route: BoundRoute, limiters: Limiters): void {
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
      coerceQuery(request.query, querystring);
      if (body === undefined) refuseBody(request);
      else if (request.body === undefined) request.body = defaultBody(route, body);
    },
    handler: async (request, reply) => {
      if (route.kind === 'file') return sendFile(reply, await route.handle(route.context, toApiRequest(request)));
      const { merchantQueue: queue } = route;
      const limited = <Result>(work: () => Promise<Result>): Promise<Result> =>
        queue === undefined ? work() : limiters[queue].run(merchantIdOf(request), work);
      if (route.kind === 'read' && route.csv) {
        const { context, csv } = route;
        reply.header('vary', 'accept');
        if (prefersCsv(request.headers.accept)) {
          return sendCsv(reply, await limited(() => csv(context, toApiRequest(request))));
        }
      }
      const response = await limited(() => run(options, route, request));
      if (response.replayed) reply.header('idempotent-replayed', 'true');
      return reply.code(response.statusCode).type('application/json; charset=utf-8').send(response.body);
    },
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

const noParameters = { type: 'object', additionalProperties: false, properties: {} };

async function run(
  options: ApiOptions,
  route: Exclude<BoundRoute, { kind: 'file' }>,
  request: FastifyRequest,
): Promise<ReplayableResponse> {
  const input = toApiRequest(request);
  if (route.kind === 'read') {
    return {
      statusCode: route.status,
      body: bodyOf(await route.handle(route.context, input)),
      replayed: false,
    };
  }
  await options.sealer.prepare();
  const effect = async (tx: Parameters<typeof route.handle>[2]) => {
    const result = await route.handle(route.context, input, tx);
    const isCreated = !(result instanceof ExistingRecord);
    return { statusCode: isCreated ? route.status : 200, body: bodyOf(isCreated ? result : result.record) };
  };
  const key = route.method === 'POST' ? readIdempotencyKey(request, route.idempotencyKeyRequired ?? false) : null;
  if (key === null)
    return { ...(await options.db.withTransaction(effect, { requestId: request.id })), replayed: false };
  const path = addressOf(route, request.params);
  const keyUse = {
    requestId: request.id,
    merchantId: input.caller.merchantId,
    path,
    key,
    fingerprint: fingerprintOf(route.method, request.body, route.body),
    fingerprintAsSent: fingerprintOf(route.method, request.body),
  };
  const { replay } = route;
  return runOnce(options, keyUse, effect, {
    errorResponse: (refusal) => ({
      statusCode: refusal.statusCode,
      body: JSON.stringify(errorBody(refusal, request, options)),
    }),
    ...(replay && {
      permanentReplay: {
        subjectOf: ({ body }) => (JSON.parse(body) as { id: string }).id,
        replay: async (subjectId) => ({
          statusCode: route.status,
          body: JSON.stringify(await replay(route.context, input, subjectId)),
        }),
      },
    }),
  });
}

function bodyOf(response: unknown): string {
  return response instanceof JsonText ? response.text : JSON.stringify(response);
}

/** The same path for every spelling of an address: percent-encoding and capitals of an id make no difference. */
function addressOf(route: BoundRoute, params: unknown): string {
  const values = params as Readonly<Record<string, string>>;
  return route.path.replace(/:(\w+)/g, (_, name: string) => String(values[name]).toLowerCase());
}

function merchantIdOf(request: FastifyRequest): string {
  return toApiRequest(request).caller.merchantId;
}

function toApiRequest(request: FastifyRequest): ApiRequest<unknown, unknown, unknown> {
  const { merchant, params, query, body } = request;
  if (!merchant) throw new Error('an API route ran without a merchant');
  return { caller: { merchantId: merchant.id, testMode: merchant.testMode }, params, query, body };
}

/** Answers 405 with the allowed methods, instead of 404, at an address that exists. */
function refuseOtherMethods(app: FastifyInstance, routes: readonly BoundRoute[]): void {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;
  const byPath = Map.groupBy(routes, (route) => route.path);
  for (const [url, known] of byPath) {
    const allowed: string[] = known.map((route) => route.method);
    const others = methods.filter((method) => !allowed.includes(method));
    if (others.length === 0) continue;
    app.route({
      method: [...others],
      url,
      handler: async (_request: FastifyRequest, reply: FastifyReply) => {
        reply.header('allow', allowed.join(', '));
        throw methodNotAllowed(allowed);
      },
    });
  }
}
