import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { AppError } from '../api/app-error.ts';
import type { Log } from '../kit/log.ts';
import { limitEachKey } from '../kit/keyed-limiter.ts';
import type { KeyedLimiter, LimiterFigures } from '../kit/keyed-limiter.ts';
import { ExistingRecord, JsonText } from '../api/route.ts';
import type { ApiRequest, BoundRoute, CsvFile, FileResponse, MerchantQueue } from '../api/route.ts';
import { errorBody } from './error-responses.ts';
import { prefersCsv } from './accept.ts';
import { authenticate } from './api-key.ts';
import type { AuthenticationOptions } from './api-key.ts';
import { coerceQuery } from './coerce-query.ts';
import { fingerprintOf } from './fingerprint.ts';
import { readIdempotencyKey, runOnce } from './idempotency.ts';
import type { ReplayableResponse, IdempotencyContext } from './idempotency.ts';
import { takeStrictJson } from './json-body.ts';
import type { RateLimiter } from './rate-limit.ts';

export interface ApiOptions extends IdempotencyContext, AuthenticationOptions {
  log: Log;
  rateLimiter: RateLimiter;
  docsUrl: () => string;
  routes: readonly BoundRoute[];
  /** How many connections `db` has, two at least. */
  databaseConnections: number;
  /** Shows a limiter in `/metrics`. */
  watchLimiter: (limiter: LimiterFigures) => void;
}

// What one merchant's orders may hold of the connections: six keep its balance busy without a pause. On one merchant 2, 3,
// 4, 6 and 20 permits took 160, 189, 143, 191 and 158 transfers a second, which the machine's noise explains; another
// merchant's took 18, 16, 16, 13 and 24 ms meanwhile. Never more than half of the connections, where there are few.
const balancePermits = 6;
// A history of 200,000 lines keeps a connection for half a second; two leave the others to payments.
const historyPermits = 2;
// A second's worth of orders at that rate, as many histories as a page of a dashboard shows, and no more memory than that.
const waitingMax: Record<MerchantQueue, number> = { balance: 128, history: 32 };
const queueFullMessages: Record<MerchantQueue, string> = {
  balance: 'Too many of your requests that move money wait for each other. Send this one again in a second.',
  history: 'Too many of your statements are being read. Send this request again in a second.',
};

/**
 * The API under /v1. Every request takes the same way: authenticate, limit, read and validate, run the route's one
 * function (a writing one inside its transaction), respond.
 */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  takeStrictJson(app);
  app.addHook('onRequest', async (request, reply) => {
    const holder = await authenticate(options, request, reply);
    request.merchant = holder.merchant;
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

type Limiters = Record<MerchantQueue, KeyedLimiter<string>>;

/** It keeps what one merchant makes wait out of what all share: whoever waits here holds nothing. */
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
  const { replay: recall } = route;
  return runOnce(options, keyUse, effect, {
    errorResponse: (refusal) => ({
      statusCode: refusal.statusCode,
      body: JSON.stringify(errorBody(refusal, request, options)),
    }),
    ...(recall && {
      permanentReplay: {
        subjectOf: ({ body }) => (JSON.parse(body) as { id: string }).id,
        replay: async (subjectId) => ({
          statusCode: route.status,
          body: JSON.stringify(await recall(route.context, input, subjectId)),
        }),
      },
    }),
  });
}

function bodyOf(response: unknown): string {
  return response instanceof JsonText ? response.text : JSON.stringify(response);
}

/** The same for every spelling of one address: percent signs and capitals of an id do not make another one. */
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

/** A POST whose fields are all optional needs no body; elsewhere a missing one is a slip. */
function defaultBody(route: BoundRoute, body: TSchema): object {
  const { required = [] } = body as { required?: string[] };
  if (route.method === 'POST' && required.length === 0) return {};
  throw new AppError('invalid_request', 'The body is missing. Send JSON.');
}

/** `{}` is what careful clients send where there is nothing to say; anything else would be ignored silently. */
function refuseBody(request: FastifyRequest): void {
  const { body } = request;
  if (body === undefined || body === null) return;
  const [name] = typeof body === 'object' ? Object.keys(body) : ['The body'];
  if (name === undefined) return;
  const message = `${name} is not a known field: this address takes no body.`;
  throw new AppError('unknown_field', message, { fields: [{ path: name, message }] });
}

/** An address that exists answers 405 with what it takes, instead of pretending that it does not exist. */
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
        throw new AppError('method_not_allowed', `This address takes ${allowed.join(', ')}.`);
      },
    });
  }
}
