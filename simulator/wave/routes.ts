import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assert } from '../../server/src/kit/assert.ts';
import type { Log } from '../../server/src/kit/log.ts';
import { parseStrictJsonBytes } from '../../server/src/kit/strict-json.ts';
import { findSimulatedNetwork } from '../network.ts';
import type { UnansweredRequests } from '../unanswered-requests.ts';
import { authenticate } from './authenticate.ts';
import type { WaveRoutesContext, WaveRoutesOptions } from './context.ts';
import { addCheckoutRoutes } from './checkout-routes.ts';
import { addPayoutRoutes } from './payout-routes.ts';
import { addWalletRoutes } from './wallet-routes.ts';
import { notFound, WaveError } from './wave-error.ts';

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

function send(reply: FastifyReply, { status, code, message, detail }: WaveError): FastifyReply {
  // Wave's own names.
  const details =
    detail === null
      ? {}
      : {
          details: [
            Object.fromEntries([
              ['loc', detail.path],
              ['msg', detail.message],
            ]),
          ],
        };
  return reply.code(status).send({ code, message, ...details });
}
