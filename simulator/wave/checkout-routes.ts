import type { FastifyInstance, FastifyReply } from 'fastify';
import { textOf } from '../../server/src/kit/untyped.ts';
import { hidden } from '../route-options.ts';
import type { Session } from '../session.ts';
import type { SessionAddress } from '../simulator.ts';
import type { StartRequest } from '../start-request.ts';
import { readCheckoutRequest } from './checkout-request.ts';
import { refundSession } from './refund.ts';
import type { WaveRoutesContext } from './context.ts';
import { notFound, serviceUnavailable, WaveError } from './wave-error.ts';
import { sessionIdOf, wireSession, type WireSession } from './wire-session.ts';

const sessions = '/v1/checkout/sessions';

interface SessionRoute {
  Params: { id: string };
}

/** Create, look up, search, expire and refund. */
export function addCheckoutRoutes(server: FastifyInstance, context: WaveRoutesContext): void {
  const { simulator, network } = context;
  const wired = (session: Session): WireSession => wireSession(session, session.status, context.publicUrl());

  server.post(sessions, hidden, async (req, reply) => {
    const { account, body } = context.read(req);
    const request = readCheckoutRequest(body, { ...(await termsOf(context, account)), account });
    const created = await createSession(context, request, reply);
    return created ? wired(created) : reply;
  });

  server.get<{ Querystring: { transaction_id?: unknown } }>(sessions, hidden, async (req) => {
    const { account } = context.read(req);
    const key = { account, network: network.id, transactionId: textOf(req.query.transaction_id) };
    return wired(foundOrThrow(await simulator.findByTransaction(key)));
  });

  server.get<{ Querystring: { client_reference?: unknown } }>(`${sessions}/search`, hidden, async (req) => {
    const { account } = context.read(req);
    const key = { account, network: network.id, reference: textOf(req.query.client_reference) };
    const session = await simulator.findByReference(key);
    return { result: session ? [wired(session)] : [] };
  });

  server.get<SessionRoute>(`${sessions}/:id`, hidden, async (req) => {
    const { account } = context.read(req);
    return wired(foundOrThrow(await simulator.find(addressOf(context, account, req.params.id))));
  });

  server.post<SessionRoute>(`${sessions}/:id/expire`, hidden, async (req, reply) => {
    const { account } = context.read(req);
    const address = addressOf(context, account, req.params.id);
    const before = foundOrThrow(await simulator.find(address));
    const ended = before.status === 'open' ? foundOrThrow(await simulator.cancel(address)) : before;
    if (before.status !== 'open' || ended.status !== 'cancelled') {
      throw new WaveError(409, 'checkout-session-not-open', 'The session is complete or has expired.');
    }
    return reply.code(200).send();
  });

  server.post<SessionRoute>(`${sessions}/:id/refund`, hidden, async (req, reply) => {
    const { account } = context.read(req);
    const session = foundOrThrow(await simulator.find(addressOf(context, account, req.params.id)));
    const isHandled = await refundSession(context, session);
    if (isHandled) return reply.code(200).send();
    context.unanswered.keepOpen(reply);
    return reply;
  });
}

/** Undefined where the caller gets no response. A second session with one reference is the first one here. */
async function createSession(
  { simulator, unanswered }: WaveRoutesContext,
  request: StartRequest,
  reply: FastifyReply,
): Promise<Session | undefined> {
  const result = await simulator.start(request);
  switch (result.kind) {
    case 'session':
      return result.session;
    case 'not_accepted':
      throw serviceUnavailable();
    case 'conflict':
    case 'silent': {
      const { account, network, reference } = request;
      const first = await simulator.findByReference({ account, network: network.id, reference });
      if (result.kind === 'conflict' && first) return first;
      unanswered.keepOpen(reply);
      return undefined;
    }
  }
}

async function termsOf(context: WaveRoutesContext, account: string) {
  const { network, approvalWindowMs, clock } = context;
  return {
    ...{ network, approvalWindowMs, now: clock.now() },
    webhookUrl: context.webhookUrl(),
    ownUrl: context.publicUrl(),
    businessName: await context.businessNameOf(account),
  };
}

function addressOf({ network }: WaveRoutesContext, account: string, id: string): SessionAddress {
  return { account, network: network.id, sessionId: sessionIdOf(id) };
}

function foundOrThrow(session: Session | undefined): Session {
  if (!session) throw notFound('checkout-session-not-found');
  return session;
}
