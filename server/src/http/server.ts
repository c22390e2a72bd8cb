import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { Clock } from '../kit/clock.ts';
import { randomBase62 } from '../kit/base62.ts';
import { methodOf, serveHeadAsGet } from '../kit/head-requests.ts';
import type { Random } from '../kit/random.ts';
import type { KeyScope } from '../api/key-scope.ts';
import { createSchemaCheck } from '../api/schema-check.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { serializeRequests } from './connection-queue.ts';
import {
  handleClientErrors,
  registerErrorHandlers,
  responseHeaders,
  sendError,
  type ErrorOptions,
} from './error-responses.ts';
import { stopListeningOnClose } from './listening.ts';
import type { Metrics } from './metrics.ts';
import { OpenExchanges } from './open-exchanges.ts';

export interface ServerOptions extends ErrorOptions {
  clock: Clock;
  random: Random;
  metrics: Metrics;
  /** True once the process has been asked to shut down. */
  isClosing?: () => boolean;
  /** Addresses and networks of the proxies whose `X-Forwarded-For` is trusted; default: none. */
  trustedProxies?: readonly string[];
  /** Shorter limits, for tests. */
  connectionLimits?: Partial<ConnectionLimits>;
}

interface ConnectionLimits {
  /** From the first byte of a request's head to its last. */
  headersTimeoutMs: number;
  /** How long a client may read no byte of a response. */
  stalledTimeoutMs: number;
}

// A slow request occupies a socket. Even on 2G, 64 kB take less than this.
const requestTimeoutMs = 30_000;
// Longer than the keep-alive of proxies, so that they close idle connections first and no request meets a closed socket.
const keepAliveTimeoutMs = 72_000;
const defaultLimits: ConnectionLimits = {
  headersTimeoutMs: 15_000,
  // As long as a request may take: a phone that loses its network for a moment continues reading afterwards.
  stalledTimeoutMs: 30_000,
};
// Node checks for late heads periodically, by default every 30 s: here, a head may be late by a tenth of its limit.
const headersChecksPerTimeout = 10;
// A client that opens a connection for a request sends the head at once, and most bodies with it: behind a proxy within milliseconds,
// on 2G within two seconds, from a busy machine later. The process has 25 s to end.
const connectionGraceMs = 5_000;
const headersBytesMax = 16 * 1024;
const requestIdLength = 20;
// Room for the longest token.
const parameterLengthMax = 128;

// Workers call the simulated networks all the time: these requests are logged at debug.
const simulatorPrefix = '/simulator/networks/';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for API requests once their key has been checked. */
    merchant: Merchant | null;
    /** What that key may do; null before. */
    keyScopes: readonly KeyScope[] | null;
    /** Its id; null before. */
    apiKeyId: string | null;
    /** As the audit log names the key. */
    apiKeyName: string | null;
    /** The text of an API response, for the request log; null before, and for a file. */
    responseText: string | null;
    /** The length of its body as it was received. */
    bodyBytes: number;
  }
}

/**
 * The HTTP server without routes: limits, request ids, one log line and one measurement per request. `app/app.ts` adds the
 * routes.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const { trustedProxies = [] } = options;
  const { headersTimeoutMs, stalledTimeoutMs } = { ...defaultLimits, ...options.connectionLimits };
  const newRequestId = () => `req_${randomBase62(options.random, requestIdLength)}`;
  const exchanges = new OpenExchanges();
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    rewriteUrl: serveHeadAsGet,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // Requests that still arrive while the server closes are served; their connection ends with the response.
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / headersChecksPerTimeout,
      maxHeaderSize: headersBytesMax,
    },
    routerOptions: { maxParamLength: parameterLengthMax },
    genReqId: newRequestId,
    frameworkErrors: (error, request, reply) => {
      void sendError(error, request, reply, options);
    },
    clientErrorHandler: handleClientErrors({ ...options, newRequestId, exchanges }),
    forceCloseConnections: 'idle',
  });
  app.setValidatorCompiler(({ schema }: { schema: TSchema }) => createSchemaCheck(schema));
  registerErrorHandlers(app, options);
  exchanges.watch(app.server);
  app.decorateRequest('merchant', null);
  app.decorateRequest('keyScopes', null);
  app.decorateRequest('apiKeyId', null);
  app.decorateRequest('apiKeyName', null);
  app.decorateRequest('responseText', null);
  app.decorateRequest('bodyBytes', 0);
  serializeRequests(app);
  closeStalledResponses(app, stalledTimeoutMs);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...responseHeaders, 'x-request-id': request.id });
  });
  if (options.isClosing) closeConnectionsOnShutdown(app, options.isClosing);
  stopListeningOnClose(app);
  closeWaitingConnections(app, { clock: options.clock, exchanges });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const measured = { method: methodOf(request.raw), route, status: reply.statusCode };
    options.metrics.observeRequest(measured, reply.elapsedTime);
    const level = route.startsWith(simulatorPrefix) ? 'debug' : 'info';
    options.log[level]('request', {
      ...measured,
      request_id: request.id,
      merchant_id: request.merchant?.id,
      duration_ms: Math.round(reply.elapsedTime * 10) / 10,
    });
  });
  return app;
}

/**
 * Resets a connection whose client does not read: the responses it requested would stay in memory, the process's and the
 * kernel's, for as long as the client likes. Node checks once in `timeoutMs` whether the kernel accepted another byte, so a reset
 * takes at most twice that. A normal close would leave the kernel sending what it has buffered.
 *
 * Hijacked responses, such as the event streams of open pages, are not watched: they are few and grow by a line now and then.
 */
function closeStalledResponses(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('onSend', async (_request, reply) => {
    const { raw: response } = reply;
    response.setTimeout(timeoutMs, () => response.socket?.resetAndDestroy());
  });
}

/**
 * A server that closes waits for its connections. On shutdown every response carries `Connection: close`, so that clients send
 * their next request elsewhere. A connection whose response headers were sent before (a stream, a response in progress) is
 * closed once that response is complete.
 */
function closeConnectionsOnShutdown(app: FastifyInstance, isClosing: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing()) reply.header('connection', 'close');
  });
  app.server.on('request', (_request, response) => {
    response.once('close', () => {
      // While the server listens, an idle connection may carry another request. Node counts it as idle only after this event.
      if (!app.server.listening) setImmediate(() => app.server.closeIdleConnections());
    });
  });
}

/**
 * A server that closes also waits for connections that wait for their client: those without a request, which Node does not count as
 * idle because browsers open them in advance or the head is incomplete, those whose request is incomplete, and those whose response is
 * not read. They are closed after a grace period: the process would end before it has closed its database. A request that arrived
 * whole is served.
 */
function closeWaitingConnections(
  app: FastifyInstance,
  { clock, exchanges }: { clock: Clock; exchanges: OpenExchanges },
) {
  const connections = new Set<Socket>();
  const allClosed = new AbortController();
  app.server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0 && !app.server.listening) allClosed.abort();
    });
  });
  const close = async (): Promise<void> => {
    while (connections.size > 0 && !allClosed.signal.aborted) {
      const written = new Map(Array.from(connections, (socket) => [socket, socket.bytesWritten]));
      await clock.sleep(connectionGraceMs, allClosed.signal);
      for (const socket of connections) {
        const isRead = socket.bytesWritten !== written.get(socket);
        if (!exchanges.isServing(socket, { isRead })) socket.destroy();
      }
    }
  };
  app.addHook('preClose', async () => {
    setImmediate(() => void close());
  });
}
