import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import { hasRecentFactor } from '../../accounts/sessions.ts';
import type { SignedIn } from '../../accounts/sessions.ts';
import { seeOther } from '../../pages/page-scope.ts';
import type { PortalParts } from '../portal-scope.ts';

export type PortalRequest = FastifyRequest<{ Params: { id?: string; businessId?: string } }>;

export type SignedInHandler = (
  request: PortalRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
) => Promise<FastifyReply>;

type Handler = (request: PortalRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Leads whoever has not signed in to the sign-in, and whoever owes a second factor to that. */
export function requireSignedIn(handler: SignedInHandler): Handler {
  return async (request, reply) => {
    const { signedIn } = request;
    const next = request.method === 'GET' ? `?next=${encodeURIComponent(request.url.split('?')[0] ?? '')}` : '';
    if (!signedIn) return seeOther(reply, `/dashboard/sign-in${next}`);
    if (!signedIn.session.isComplete) return seeOther(reply, `/dashboard/second-factor${next}`);
    return handler(request, reply, signedIn);
  };
}

/** The same for what weakens or adds a factor: whoever has one gives it again, unless that was minutes ago. */
export function requireFactor({ context }: Pick<PortalParts, 'context'>, handler: SignedInHandler): Handler {
  return requireSignedIn(async (request, reply, signedIn) => {
    const needsFactor = await hasSecondFactor(context.db, signedIn.account);
    const isRecent = hasRecentFactor(signedIn.session, context.clock.now());
    if (!needsFactor || isRecent) return handler(request, reply, signedIn);
    return seeOther(reply, `/dashboard/second-factor?next=${encodeURIComponent('/dashboard/account')}`);
  });
}
