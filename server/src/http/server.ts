import type { Socket } from 'node:net';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { TSchema } from 'typebox';
import type { Clock } from '../kit/clock.ts';
import { randomBase62 } from '../kit/base62.ts';
import type { Log } from '../kit/log.ts';
import type { Random } from '../kit/random.ts';
import { createSchemaCheck } from '../api/schema-check.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { sendError, registerErrorHandlers, responseHeaders } from './error-responses.ts';
import { handleClientErrors } from './client-errors.ts';
import { serializeRequests } from './connection-queue.ts';
import type { Metrics } from './metrics.ts';
import { closeStalledResponses } from './stalled-responses.ts';

export interface ServerOptions {
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  docsUrl: () => string;
  /** True from the moment the process is told to end. */
  isClosing?: () => boolean;
  /** Addresses and networks of proxies; default: none. Whose `X-Forwarded-For` tells the client's address. */
  trustedProxies?: readonly string[];
  /** Shorter limits, for tests. */
  connectionLimits?: Partial<ConnectionLimits>;
}

interface ConnectionLimits {
  /** From the first byte of a request's head to its last. */
  headersTimeoutMs: number;
  /** Without one byte of an answer being taken. */
  stalledTimeoutMs: number;
}

// A request that trickles in keeps a socket; nobody's 64 kB take longer than this, also on 2G.
const requestTimeoutMs = 30_000;
// Longer than what proxies keep idle connections for, so that they close first and no request meets a closed socket.
const keepAliveTimeoutMs = 72_000;
const defaultLimits: ConnectionLimits = {
  headersTimeoutMs: 15_000,
  // A phone that loses its network for a moment goes on reading when it is back; as long as a request may take.
  stalledTimeoutMs: 30_000,
};
// Node looks for heads that are late only now and then, every 30 s by default: they may be late by a tenth of their limit.
const headersChecksPerTimeout = 10;
// Who opens a connection for a request sends its head at once: behind a proxy in milliseconds, on 2G within a second or two. A
// client whose machine is busy has taken longer, and the process has 25 s to end.
const connectionGraceMs = 5_000;
const headersBytesMax = 16 * 1024;
const requestIdLength = 20;
// Room for the longest token; longer addresses are nobody's.
const parameterLengthMax = 128;

// What workers ask of the simulated networks, again and again, is our own talk: of interest only to who looks for it.
const simulatorPrefix = '/simulator/networks/';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for API requests once their key has been checked. */
    merchant: Merchant | null;
  }
}

/**
 * The HTTP server without any route: limits, request ids, one log line and one measurement for each request. What it
 * serves is put together in app.ts.
 */
export function createServer(options: ServerOptions): FastifyInstance {
  const { trustedProxies = [] } = options;
  const { headersTimeoutMs, stalledTimeoutMs } = { ...defaultLimits, ...options.connectionLimits };
  const newRequestId = () => `req_${randomBase62(options.random, requestIdLength)}`;
  const app = Fastify({
    logger: false,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // What still arrives while the server closes is served like everything else; its connection ends with the answer.
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
    clientErrorHandler: handleClientErrors({ ...options, newRequestId }),
    forceCloseConnections: 'idle',
  });
  app.setValidatorCompiler(({ schema }: { schema: TSchema }) => createSchemaCheck(schema));
  registerErrorHandlers(app, options);
  app.decorateRequest('merchant', null);
  serializeRequests(app);
  closeStalledResponses(app, stalledTimeoutMs);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...responseHeaders, 'x-request-id': request.id });
  });
  if (options.isClosing) closeConnectionsOnShutdown(app, options.isClosing);
  closeConnectionsWithoutRequest(app, options.clock);
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const measured = { method: request.method, route, status: reply.statusCode };
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
 * A server that closes waits for its connections. A client that keeps one would bring its next request where soon nobody
 * listens, so it is told to leave; whoever was told otherwise before (a stream, an answer that was on its way) is
 * disconnected once it has its answer.
 */
function closeConnectionsOnShutdown(app: FastifyInstance, isClosing: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing()) reply.header('connection', 'close');
  });
  app.server.on('request', (_request, response) => {
    response.once('close', () => {
      // While it still listens, an idle connection may be about to bring a request. It counts as idle only after this.
      if (!app.server.listening) setImmediate(() => app.server.closeIdleConnections());
    });
  });
}

/**
 * A server that closes also waits for connections that carry no request, because Node does not count them as idle: those
 * that browsers open ahead, and those on which half a request's head came. They are closed after a while. A request whose
 * head is complete is served.
 */
function closeConnectionsWithoutRequest(app: FastifyInstance, clock: Clock): void {
  const connections = new Map<Socket, { requestsUnderWay: number }>();
  const allClosed = new AbortController();
  app.server.on('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requestsUnderWay += 1;
    response.once('close', () => {
      connection.requestsUnderWay -= 1;
    });
  });
  app.server.on('connection', (socket) => {
    connections.set(socket, { requestsUnderWay: 0 });
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0 && !app.server.listening) allClosed.abort();
    });
  });
  const close = async (): Promise<void> => {
    if (connections.size === 0) return;
    await clock.sleep(connectionGraceMs, allClosed.signal);
    for (const [socket, { requestsUnderWay }] of connections) if (requestsUnderWay === 0) socket.destroy();
  };
  app.addHook('preClose', async () => {
    // When the server has stopped listening, so that no connection is added.
    setImmediate(() => void close());
  });
}
