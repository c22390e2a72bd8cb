import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../kit/public-error.ts';
import type { Log } from '../kit/log.ts';
import { isServerError, logRefusal } from '../api/log-refusal.ts';
import type { PageSender } from './document.ts';
import type { FormGuard } from './form-guard.ts';
import { httpErrorPage } from './http-error-page.ts';
import { preparePageLanguage } from './page-language.ts';
import { createPageCookies } from './page-cookies.ts';

export interface PageScopeOptions {
  sender: PageSender;
  guard: FormGuard;
  publicUrl: () => string;
  log: Log;
  /** The path of the page that a request belongs to; null if there is none to return to. */
  homeOf(request: FastifyRequest): string | null;
}

// The largest form is a link's: ten answers of 200 characters, each of up to nine bytes when percent-encoded.
const formBytesMax = 24 * 1_024;

/**
 * Sets up a Fastify scope for pages: it accepts only URL-encoded forms, every POST must pass the form guard, and every error
 * is a page instead of JSON.
 */
export async function preparePageScope(scope: FastifyInstance, options: PageScopeOptions): Promise<void> {
  // Pages are not part of the OpenAPI document.
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  scope.removeAllContentTypeParsers();
  await scope.register(formbody, { bodyLimit: formBytesMax });
  await scope.register(cookie);
  preparePageLanguage(scope, createPageCookies(options.publicUrl));
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' || options.guard.allows(request, options.homeOf(request) ?? '')) return;
    options.log.debug('a request was refused', { request_id: request.id, reason: 'not proven to be our own form' });
    return sendErrorPage(request, reply, { status: 403 });
  });
  scope.setErrorHandler((error: FastifyError | PublicError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (isServerError(error)) options.log.error('a page failed', error, { request_id: request.id });
    else logRefusal(options.log, request.id, error);
    const retryAfterSeconds = error instanceof PublicError ? error.retryAfterSeconds : undefined;
    return sendErrorPage(request, reply, { status, retryAfterSeconds });
  });
  scope.setNotFoundHandler((request, reply) => sendErrorPage(request, reply, { status: 404 }));

  function sendErrorPage(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, retryAfterSeconds }: { status: number; retryAfterSeconds?: number | undefined },
  ): Promise<FastifyReply> {
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    const { language, id: requestId } = request;
    const content = httpErrorPage(status, { language, requestId, home: options.homeOf(request) });
    return options.sender.send(request, reply, { status, content });
  }
}

/** Redirects to our own page after a form post, so that reloading repeats nothing. */
export function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(path, 303);
}
