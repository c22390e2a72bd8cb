import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../kit/public-error.ts';
import { pathOf, RouteMethods } from '../kit/route-methods.ts';
import type { Log } from '../kit/log.ts';
import { isServerError, logRefusal } from '../api/log-refusal.ts';
import type { Language } from '../languages/languages.ts';
import type { PageSender } from './document.ts';
import type { FormGuard } from './form-guard.ts';
import { httpErrorPage, type ErrorPage } from './http-error-page.ts';
import { preparePageLanguage, requestedLanguage } from './page-language.ts';
import { createPageCookies } from './page-cookies.ts';

export interface PageScopeOptions {
  sender: PageSender;
  guard: FormGuard;
  publicUrl: () => string;
  log: Log;
  /** The path of the page that a request belongs to; null if there is none to return to. */
  homeOf(request: FastifyRequest): string | null;
  /** Payers' by default. */
  errorPage?: ErrorPage;
}

// The largest form is a link's: ten answers of 200 characters, each of up to nine bytes when percent-encoded.
const formBytesMax = 24 * 1_024;

/**
 * Sets up a Fastify scope for pages: it accepts only URL-encoded forms, every POST must pass the form guard, and every error
 * is a page instead of JSON, also that of a method that a page does not accept.
 */
export async function preparePageScope(scope: FastifyInstance, options: PageScopeOptions): Promise<void> {
  const methods = new RouteMethods();
  scope.addHook('onRoute', (route) => {
    // Pages are not part of the OpenAPI document.
    route.schema = { ...route.schema, hide: true };
    methods.add(route);
  });
  scope.removeAllContentTypeParsers();
  await scope.register(formbody, { bodyLimit: formBytesMax });
  if (!scope.hasRequestDecorator('cookies')) await scope.register(cookie);
  preparePageLanguage(scope, createPageCookies(options.publicUrl));
  scope.addHook('preHandler', async (request, reply) => {
    // Without a route nothing can be done, and the form would hide that the address is wrong.
    if (request.is404) return;
    if (request.method !== 'POST' || options.guard.allows(request, options.homeOf(request) ?? '')) return;
    options.log.debug('a request was refused', { request_id: request.id, reason: 'not proven to be our own form' });
    return sendErrorPage(request, reply, { status: 403 });
  });
  scope.setErrorHandler((error: FastifyError | PublicError, request, reply) => {
    const status = error.statusCode ?? 500;
    // For example a body that no page accepts: that there is no such page comes first.
    if (request.is404 && status < 500) return sendNotFound(request, reply);
    if (isServerError(error)) options.log.error('a page failed', error, { request_id: request.id });
    else logRefusal(options.log, request.id, error);
    const retryAfterSeconds = error instanceof PublicError ? error.retryAfterSeconds : undefined;
    return sendErrorPage(request, reply, { status, retryAfterSeconds });
  });
  scope.setNotFoundHandler(sendNotFound);

  async function sendNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const allowed = methods.at(request.url);
    if (allowed.length === 0) return sendErrorPage(request, reply, { status: 404 });
    reply.header('allow', allowed.join(', '));
    const home = allowed.includes('GET') ? pathOf(request.url) : null;
    return sendErrorPage(request, reply, { status: 405, home });
  }

  function sendErrorPage(
    request: FastifyRequest,
    reply: FastifyReply,
    error: { status: number; retryAfterSeconds?: number | undefined; home?: string | null },
  ): Promise<FastifyReply> {
    const { status, retryAfterSeconds, home = options.homeOf(request) } = error;
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    // What is refused ahead of the hooks of a scope, as on a restored copy, has no language yet.
    const language = (request.language as Language | undefined) ?? requestedLanguage(request);
    const content = (options.errorPage ?? httpErrorPage)(status, { language, requestId: request.id, home });
    return options.sender.send(request, reply, { status, content });
  }
}

/** Redirects to our own page after a form post, so that reloading repeats nothing. */
export function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(path, 303);
}
