import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { hasRecentFactor, type SignedIn } from '../../accounts/sessions.ts';
import { seeOther } from '../../pages/page-scope.ts';
import type { Environment } from '../environment.ts';
import type { PortalParts } from '../portal-scope.ts';

export type PortalRequest = FastifyRequest<{
  Params: { environment?: Environment; merchant?: string; id?: string };
}>;

export type SignedInHandler = (
  request: PortalRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
) => Promise<FastifyReply>;

type Handler = (request: PortalRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Leads whoever has not signed in to the sign-in, and whoever owes a second factor to that. */
export function requireSignedIn(parts: Pick<PortalParts, 'home'>, handler: SignedInHandler): Handler {
  return async (request, reply) => {
    const { signedIn } = request;
    if (!signedIn?.session.isComplete) return leadToSignIn(parts, request, reply);
    return handler(request, reply, signedIn);
  };
}

/** The same before the body of a request is read. */
export function requireSignedInFirst(scope: FastifyInstance, parts: Pick<PortalParts, 'home'>): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!request.signedIn?.session.isComplete) return leadToSignIn(parts, request, reply);
    return undefined;
  });
}

function leadToSignIn({ home }: Pick<PortalParts, 'home'>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = request.method === 'GET' ? `?next=${encodeURIComponent(request.url)}` : '';
  return leadTo(request, reply, `${home}/${request.signedIn ? 'second-factor' : 'sign-in'}${next}`);
}

/** A script that reads a part of a page learns that the whole page has to change: it would not see a redirection. */
function leadTo(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply {
  if (request.headers['hx-request'] !== 'true') return seeOther(reply, path);
  return reply.code(401).headers({ 'hx-redirect': path, 'cache-control': 'no-store' }).send();
}

/** The same for what weakens or adds a factor: whoever has one gives it again, unless that was minutes ago. */
export function requireFactor(parts: Pick<PortalParts, 'context' | 'home'>, handler: SignedInHandler): Handler {
  const { context, home } = parts;
  return requireSignedIn(parts, async (request, reply, signedIn) => {
    const needsFactor = await hasSecondFactor(context.db, signedIn.account);
    const isRecent = hasRecentFactor(signedIn.session, context.clock.now());
    if (!needsFactor || isRecent) return handler(request, reply, signedIn);
    return seeOther(reply, `${home}/second-factor?next=${encodeURIComponent(`${home}/account`)}`);
  });
}
