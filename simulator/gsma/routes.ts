import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../server/src/kit/log.ts';
import { parseStrictJsonBytes, StrictJsonError } from '../../server/src/kit/strict-json.ts';
import { hidden } from '../route-options.ts';
import type { Simulator } from '../simulator.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { duplicateRequest, GsmaError, notFound } from './error.ts';
import {
  createGsmaRequests,
  type GsmaRequests,
  type GsmaRequestsOptions,
  type StartedRequest,
} from './gsma-requests.ts';
import { readCaller, readRequestHeaders, readReversalBody, readTransactionBody, type GsmaCaller } from './request.ts';
import { requestState, stateOf, transaction } from './resources.ts';

export interface GsmaRoutesOptions extends GsmaRequestsOptions {
  simulator: Simulator;
  bearerSecret: string;
  log: Log;
  unanswered: UnansweredRequests;
}

// A transaction has some hundred bytes besides two texts of at most 256 characters.
const bodyBytesMax = 16 * 1024;

/** The GSMA Mobile Money API 1.2 of a simulated provider (docs/networks.md), as strict as its definition. */
export function gsmaRoutes(options: GsmaRoutesOptions): FastifyPluginAsync {
  return async (server) => {
    server.removeAllContentTypeParsers();
    // As bytes: the hash in X-Content-Hash is that of the bytes that were sent.
    const parsing = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
    server.addContentTypeParser('application/json', parsing, async (_req: unknown, body: Buffer) => body);
    handleErrors(server, options);
    const requests = createGsmaRequests(options.simulator, options);
    addRequests(server, options, requests);
    addLookUps(server, options, requests);
  };
}

function addRequests(server: FastifyInstance, options: GsmaRoutesOptions, requests: GsmaRequests): void {
  const post = <Params>(
    path: string,
    start: (req: FastifyRequest<{ Params: Params }>, caller: GsmaCaller, body: unknown) => Promise<StartedRequest>,
  ) =>
    server.post<{ Params: Params }>(path, hidden, async (req, reply) => {
      const caller = readCaller(req.headers, options);
      const started = await start(req, caller, readBody(req.body));
      return respond(reply, options, started);
    });

  post<{ type: string }>('/transactions/type/:type', (req, caller, body) => {
    const headers = readRequestHeaders(req.headers, bytesOf(req.body));
    const { type } = req.params;
    switch (type) {
      case 'merchantpay':
        return requests.collect(caller, headers, readTransactionBody(body, type));
      case 'disbursement':
        return requests.payOut(caller, headers, readTransactionBody(body, type));
      default:
        throw new GsmaError('businessRule', 'transactionTypeError', 'This provider does not offer this type.');
    }
  });

  post<{ reference: string }>('/transactions/:reference/reversals', (req, caller, body) => {
    const headers = readRequestHeaders(req.headers, bytesOf(req.body));
    return requests.reverse(caller, headers, { ...readReversalBody(body), transactionId: req.params.reference });
  });
}

function addLookUps(server: FastifyInstance, options: GsmaRoutesOptions, requests: GsmaRequests): void {
  server.get<{ Params: { reference: string } }>('/transactions/:reference', hidden, async (req) => {
    const subject = await requests.findByTransaction(readCaller(req.headers, options), req.params.reference);
    if (subject === undefined || stateOf(subject).status !== 'completed') throw notFound('Transaction');
    return transaction(subject);
  });

  server.get<{ Params: { serverId: string } }>('/requeststates/:serverId', hidden, async (req) => {
    const found = await requests.poll(readCaller(req.headers, options), req.params.serverId);
    if (found === undefined) throw notFound('Request state');
    const { request, subject } = found;
    if (request.pollLimit !== null && request.polls > request.pollLimit) {
      throw new GsmaError('businessRule', 'rateLimitError', 'The pollLimit of this request is used up.');
    }
    return requestState(request, subject, options.clock.now());
  });

  server.get<{ Params: { correlationId: string } }>('/responses/:correlationId', hidden, async (req) => {
    const found = await requests.find(readCaller(req.headers, options), req.params.correlationId);
    if (found === undefined) throw notFound('Response');
    const state = stateOf(found.subject);
    const path =
      state.status === 'completed'
        ? `/transactions/${state.transactionReference}`
        : `/requeststates/${found.request.serverId}`;
    return { link: path };
  });

  server.get('/heartbeat', hidden, async (req) => {
    readCaller(req.headers, options);
    return { serviceStatus: 'available' };
  });
}

function respond(reply: FastifyReply, { clock, unanswered }: GsmaRoutesOptions, started: StartedRequest): unknown {
  switch (started.kind) {
    case 'silent':
      unanswered.keepOpen(reply);
      return reply;
    case 'duplicate':
      throw duplicateRequest();
    case 'unavailable':
      throw new GsmaError('serviceUnavailable', 'genericError', 'The service is not available. Nothing was created.');
    case 'float_empty':
      throw new GsmaError('businessRule', 'insufficientFunds', 'The debit party has insufficient funds.');
    case 'refused':
      throw started.error;
    case 'accepted': {
      const { request, subject } = started;
      const state = stateOf(subject);
      // The server chooses how it responds to what has ended at once; the last digit of its id decides.
      if (state.status === 'pending' || !/[0-7]$/.test(request.serverId)) {
        return reply.code(202).send(requestState(request, subject, clock.now()));
      }
      if (state.status === 'failed') throw state.error;
      return reply.code(201).send(transaction(subject));
    }
  }
}

function bytesOf(body: unknown): Uint8Array {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function readBody(body: unknown): unknown {
  try {
    return parseStrictJsonBytes(bytesOf(body));
  } catch (error) {
    if (error instanceof StrictJsonError) throw new GsmaError('validation', 'formatError', error.message);
    throw error;
  }
}

function handleErrors(server: FastifyInstance, { clock, log }: GsmaRoutesOptions): void {
  server.setErrorHandler((error: unknown, _req: FastifyRequest, reply: FastifyReply) => {
    const refusal = error instanceof GsmaError ? error : unexpected(error, log);
    return reply.code(refusal.statusCode).send(refusal.body(clock.now()));
  });
}

/** A body that is too large, a wrong content type, or a bug. */
function unexpected(error: unknown, log: Log): GsmaError {
  const { statusCode } = error as { statusCode?: unknown };
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new GsmaError('validation', 'formatError', 'The body is not acceptable.');
  }
  log.error('a simulated network failed', error);
  return new GsmaError('internal', 'genericError', 'The request failed.');
}
