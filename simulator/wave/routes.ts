import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assert } from '../../server/src/kit/assert.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { parseStrictJsonBytes } from '../../server/src/kit/strict-json.ts';
import { findSimulatedNetwork } from '../network.ts';
import type { SimulatedNetwork } from '../network.ts';
import type { Simulator } from '../simulator.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { authenticate } from './authenticate.ts';
import { addCheckoutRoutes } from './checkout-routes.ts';
import { addPayoutRoutes } from './payout-routes.ts';
import { addWalletRoutes } from './wallet-routes.ts';
import { notFound, WaveError } from './wave-error.ts';

export interface WaveRoutesOptions {
  simulator: Simulator;
  clock: Clock;
  /** The credentials of the merchant accounts are derived from it. */
  bearerSecret: string;
  /** The base URL of the pages behind launch links, without a trailing slash. */
  publicUrl: () => string;
  /** Where webhooks go; a real one is registered in Wave's portal. */
  webhookUrl: () => string;
  /** How long a session can be paid. Wave decides it. */
  approvalWindowMs: number;
  /** The name with which the business of an account signed up. */
  businessNameOf: (account: string) => Promise<string>;
  log: Log;
}

/** What the routes share. */
export interface WaveRoutesContext extends WaveRoutesOptions {
  network: SimulatedNetwork;
  unanswered: UnansweredRequests;
  /** The account that a request proves, and its body. Throws WaveError. */
  read(req: FastifyRequest): { account: string; body: unknown };
}

const bodyBytesMax = 64 * 1024;

/** The simulated Wave's API. It parses bodies and reports errors in its own way, as a third-party service. */
export function addWaveRoutes(
  server: FastifyInstance,
  options: WaveRoutesOptions & { unanswered: UnansweredRequests },
): void {
  const network = findSimulatedNetwork('wave');
  assert(network, 'the simulated networks include Wave');
  const read: WaveRoutesContext['read'] = (req) => {
    const rawBody = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
    const { bearerSecret, clock } = options;
    const account = authenticate({ headers: req.headers, rawBody }, { bearerSecret, now: clock.now() });
    return { account, body: rawBody.length === 0 ? undefined : parseBody(rawBody) };
  };
  keepRawBodies(server);
  handleErrors(server, options.log);
  const context: WaveRoutesContext = { ...options, network, read };
  addCheckoutRoutes(server, context);
  addPayoutRoutes(server, context);
  addWalletRoutes(server, context);
}

/** Signatures are over the bytes as they came. */
function keepRawBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const parsing = { parseAs: 'buffer', bodyLimit: bodyBytesMax } as const;
  server.addContentTypeParser('application/json', parsing, (_req, body: Buffer, done) => done(null, body));
}

function parseBody(rawBody: Buffer): unknown {
  try {
    return parseStrictJsonBytes(rawBody);
  } catch {
    throw new WaveError(400, 'request-not-json', 'The request is not JSON.');
  }
}

function handleErrors(server: FastifyInstance, log: Log): void {
  server.setNotFoundHandler((_req, reply) => send(reply, notFound('not-found')));
  server.setErrorHandler((error: unknown, _req: FastifyRequest, reply: FastifyReply) => {
    if (error instanceof WaveError) return send(reply, error);
    const { statusCode } = error as { statusCode?: unknown };
    if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
      return send(reply, new WaveError(statusCode, 'request-parsing-error', 'The request can’t be parsed.'));
    }
    log.error('a simulated network failed', error);
    return send(reply, new WaveError(500, 'internal-server-error', 'Something went wrong.'));
  });
}

function send(reply: FastifyReply, { status, code, message, details }: WaveError): FastifyReply {
  return reply.code(status).send({ code, message, ...(details.length === 0 ? {} : { details }) });
}
