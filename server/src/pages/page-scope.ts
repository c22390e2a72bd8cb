import formbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kit/app-error.ts';
import type { Log } from '../kit/log.ts';
import { isServerError, logRefusal } from '../kit/log-refusal.ts';
import type { PageSender } from './document.ts';
import type { FormGuard } from './form-guard.ts';
import { httpErrorText } from './http-error-text.ts';
import { httpErrorPage } from './http-error-page.ts';

export interface PageScopeOptions {
  sender: PageSender;
  guard: FormGuard;
  log: Log;
  /** The page that a request belongs to, as a path; null where there is none to go back to. */
  homeOf(request: FastifyRequest): string | null;
}

// The largest form is a link's: ten answers of 200 characters, each of which takes up to nine bytes in percent encoding.
const formBytesMax = 24 * 1_024;

/**
 * Makes a Fastify scope one of pages: forms are read as browsers post them and nothing else, every state change needs
 * the form guard, and whatever goes wrong answers with a page instead of JSON.
 */
export async function preparePageScope(scope: FastifyInstance, options: PageScopeOptions): Promise<void> {
  // Pages have no place in the API's reference, which is made of all schemas.
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
  scope.removeAllContentTypeParsers();
  await scope.register(formbody, { bodyLimit: formBytesMax });
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' || options.guard.allows(request, options.homeOf(request) ?? '')) return;
    options.log.debug('a request was refused', { request_id: request.id, reason: 'not shown to be our own form' });
    return sendErrorPage(request, reply, { status: 403 });
  });
  scope.setErrorHandler((error: FastifyError | AppError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (isServerError(error)) options.log.error('a page failed', error, { request_id: request.id });
    else logRefusal(options.log, request.id, error);
    const retryAfterSeconds = error instanceof AppError ? error.retryAfterSeconds : undefined;
    return sendErrorPage(request, reply, { status, retryAfterSeconds });
  });
  scope.setNotFoundHandler((request, reply) => sendErrorPage(request, reply, { status: 404 }));

  function sendErrorPage(
    request: FastifyRequest,
    reply: FastifyReply,
    { status, retryAfterSeconds }: { status: number; retryAfterSeconds?: number | undefined },
  ): Promise<FastifyReply> {
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    const content = httpErrorPage(httpErrorText(status, { home: options.homeOf(request), requestId: request.id }));
    return options.sender.send(request, reply, { status, content });
  }
}

/** After a form: our own page again, by GET. Nothing is repeated when the browser loads it once more. */
export function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(path, 303);
}
