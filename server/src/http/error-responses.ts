import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { Log } from '../kit/log.ts';
import { PublicError } from '../kit/public-error.ts';
import { isServerError, logRefusal } from '../api/log-refusal.ts';
import { validationError } from './validation-error.ts';

export interface ErrorBody {
  message: string;
  statusCode: number;
  code: string;
  errors?: { path: string; message: string }[];
  request_id: string;
  doc_url: string;
}

export interface ErrorOptions {
  log: Log;
  docsUrl: () => string;
}

/** What every answer says unless a page has its own words: it is nobody's to keep, and nothing but what it says it is. */
export const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** The one place where an error becomes an answer of the API (docs/api.md, "Errors"). */
export function registerErrorHandlers(app: FastifyInstance, options: ErrorOptions): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) => sendError(error, request, reply, options));
  app.setNotFoundHandler((request, reply) => {
    const message = 'There is nothing at this address. The reference at /docs lists what there is.';
    return sendError(new AppError('not_found', message), request, reply, options);
  });
}

/** Also for an address that cannot be read: no hook has seen that request, so the request id is set here. */
export function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorOptions,
): FastifyReply {
  const appError = toAppError(error, request);
  const fields = { request_id: request.id, code: appError.code, internal: appError.internal };
  if (isServerError(appError)) options.log.error('a request failed', error, fields);
  else logRefusal(options.log, request.id, appError);
  if (appError.retryAfterSeconds !== undefined) reply.header('retry-after', appError.retryAfterSeconds);
  // A challenge tells generic clients how to authenticate (RFC 9110, 11.6.1).
  if (appError.statusCode === 401) reply.header('www-authenticate', 'Bearer');
  return reply
    .code(appError.statusCode)
    .headers({ ...responseHeaders, 'x-request-id': request.id })
    .type('application/json; charset=utf-8')
    .send(errorBody(appError, request, options));
}

export function errorBody(error: PublicError, request: { id: string }, options: { docsUrl: () => string }): ErrorBody {
  return {
    message: error.message,
    statusCode: error.statusCode,
    code: error.code,
    ...(error.fields === undefined ? {} : { errors: error.fields }),
    request_id: request.id,
    doc_url: `${options.docsUrl()}/errors/${error.code}`,
  };
}

function toAppError(error: FastifyError | Error, request: FastifyRequest): PublicError {
  if (error instanceof PublicError) return error;
  // The client left while it was sending: nobody reads this answer, and nobody here made a mistake.
  if (request.raw.errored === error) return new AppError('invalid_request', 'The request ended before it was whole.');
  if ('validation' in error && error.validation) return validationError(error);
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return new AppError('unsupported_media_type', 'Send the body as application/json.');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('body_too_large', 'The body is larger than 64 kB. Send less.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('invalid_json', 'The body is not as long as Content-Length says.');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AppError('not_found', 'There is nothing at this address.');
    default:
      return new AppError('internal_error', 'We made a mistake. It is logged; try again or tell us the request id.', {
        cause: error,
      });
  }
}
