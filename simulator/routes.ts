import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { assert } from '../server/src/kit/assert.ts';
import type { Log } from '../server/src/kit/log.ts';
import { parseStrictJsonBytes, StrictJsonError } from '../server/src/kit/strict-json.ts';
import { authenticate, hidden } from './authenticate.ts';
import { payinRoutes } from './54pay/routes.ts';
import { gsmaRoutes } from './gsma/routes.ts';
import type { GsmaRequestsOptions } from './gsma/gsma-requests.ts';
import { addPayoutRoutes } from './payouts/payout-routes.ts';
import { addRefundRoutes } from './refunds/refund-routes.ts';
import { Refusal, RequestRefused } from './refusal.ts';
import type { Session } from './session.ts';
import type { SessionAddress } from './simulator.ts';
import { readCode, readEmptyBody, readStartRequest } from './start-request.ts';
import { UnansweredRequests } from './unanswered-requests.ts';
import { wireSession } from './wire.ts';
import type { WireSession } from './wire.ts';
import { addWaveRoutes } from './wave/routes.ts';
import type { WaveRoutesOptions } from './wave/routes.ts';
import { readReference } from './wire-values.ts';

export interface SimulatorRoutesOptions extends WaveRoutesOptions, GsmaRequestsOptions {
  /** Aborted when the process shuts down: held requests are closed. */
  closing?: AbortSignal;
}

// A start has about five hundred bytes besides three URLs of at most 2,048 characters.
const bodyBytesMax = 16 * 1024;

/**
 * The simulated networks' APIs under `/simulator/networks/{network}`: Wave's own (`wave/`), and for the others the private one with
 * `/collections` (start, look up by id or reference, code, confirm, cancel), `/payouts` and `/refunds` (start, look up). They
 * parse bodies and report errors in their own way, as third-party services; only the server is shared.
 */
export function simulatorRoutes(options: SimulatorRoutesOptions): FastifyPluginAsync {
  assert(options.bearerSecret !== '', 'the simulated networks need a bearer secret');
  return async (server) => {
    const unanswered = new UnansweredRequests();
    server.addHook('preClose', async () => unanswered.close());
    options.closing?.addEventListener('abort', () => unanswered.close());
    const wireOptions = { ...options, unanswered };
    await server.register(gsmaRoutes(wireOptions), { prefix: '/simulator/networks/gsma' });
    await server.register(payinRoutes(wireOptions), { prefix: '/simulator/networks/54pay/collection/v1' });
    parseBodiesStrictly(server);
    handleErrors(server, options.log);
    await server.register(async (collections) => addRoutes(collections, options, unanswered), {
      prefix: '/simulator/networks/:network/collections',
    });
    await server.register(async (scope) => addWaveRoutes(scope, { ...options, unanswered }), {
      prefix: '/simulator/networks/wave',
    });
    const { bearerSecret, simulator } = options;
    const { payouts, refunds } = simulator;
    await server.register(async (scope) => addPayoutRoutes(scope, { payouts, bearerSecret, unanswered }), {
      prefix: '/simulator/networks/:network/payouts',
    });
    await server.register(async (scope) => addRefundRoutes(scope, { refunds, bearerSecret, unanswered }), {
      prefix: '/simulator/networks/:network/refunds',
    });
  };
}

interface SessionRoute {
  Params: { network: string; sessionId: string };
}

function addRoutes(server: FastifyInstance, options: SimulatorRoutesOptions, unanswered: UnansweredRequests): void {
  const { simulator } = options;
  const sessionResponse = (session: Session): WireSession => wireSession(session, session.status, options.publicUrl());

  server.post<{ Params: { network: string } }>('/', hidden, async (req, reply) => {
    const { network, account } = authenticate(req, options);
    const result = await simulator.start(readStartRequest(network, account, req.body));
    switch (result.kind) {
      case 'session':
        return sessionResponse(result.session);
      case 'silent':
        unanswered.keepOpen(reply);
        return reply;
      case 'conflict':
        throw new Refusal('reference_conflict', 'The reference belongs to another request.');
      case 'not_accepted':
        throw new Refusal('not_accepted', 'The network does not accept payments at the moment. Nothing was created.');
    }
  });

  server.get<{ Params: { network: string }; Querystring: { reference?: unknown } }>('/', hidden, async (req) => {
    const { network, account } = authenticate(req, options);
    const reference = readReference(req.query.reference);
    const session = await simulator.findByReference({ account, network: network.id, reference });
    return { result: session ? [sessionResponse(session)] : [] };
  });

  server.get<SessionRoute>('/:sessionId', hidden, async (req) => {
    return sessionResponse(foundOrThrow(await simulator.find(sessionAddress(req, options))));
  });

  server.post<SessionRoute>('/:sessionId/code', hidden, async (req) => {
    const key = sessionAddress(req, options);
    const session = foundOrThrow(await simulator.enterCode(key, readCode(req.body)));
    if (session.shape !== 'code') throw new Refusal('no_code_expected', 'This session does not expect a code.');
    if (session.status !== 'open') return sessionResponse(session);
    const attemptsLeft = Number(session.codeAttemptsLeft);
    throw new Refusal('wrong_code', 'The code is wrong.', { attempts_left: attemptsLeft });
  });

  server.post<SessionRoute>('/:sessionId/confirm', hidden, async (req) => {
    const key = sessionAddress(req, options);
    readEmptyBody(req.body);
    return sessionResponse(foundOrThrow(await simulator.confirm(key)));
  });

  server.post<SessionRoute>('/:sessionId/cancel', hidden, async (req) => {
    const key = sessionAddress(req, options);
    readEmptyBody(req.body);
    return sessionResponse(foundOrThrow(await simulator.cancel(key)));
  });
}

function sessionAddress(req: FastifyRequest<SessionRoute>, options: SimulatorRoutesOptions): SessionAddress {
  const { network, account } = authenticate(req, options);
  return { account, network: network.id, sessionId: req.params.sessionId };
}

function foundOrThrow<Found>(value: Found | undefined): Found {
  if (value === undefined) throw new Refusal('not_found', 'Session not found.');
  return value;
}

/** These networks accept strict JSON only, whatever the surrounding server accepts. */
function parseBodiesStrictly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parsing = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  server.addContentTypeParser('application/json', parsing, (_req, body: Buffer, done) => {
    try {
      done(null, parseStrictJsonBytes(body));
    } catch (error) {
      done(error instanceof StrictJsonError ? new RequestRefused(error.path, error.message) : (error as Error));
    }
  });
}

function handleErrors(server: FastifyInstance, log: Log): void {
  server.setErrorHandler((error: unknown, _req: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof Refusal) {
      return reply.code(error.statusCode).send({ code: error.code, message: error.message, ...error.details });
    }
    // A body that is too large, a wrong content type, or a bug.
    const { statusCode } = error as { statusCode?: unknown };
    const status = typeof statusCode === 'number' && statusCode >= 400 ? statusCode : 500;
    if (status >= 500) log.error('a simulated network failed', error);
    return reply.code(status).send({ code: status < 500 ? 'invalid_request' : 'internal_error', message: 'Refused.' });
  });
}
