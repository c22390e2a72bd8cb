import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
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

/** Header fields of every response, unless a page sets its own: no caching, and no guessing of the content type. */
export const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Turns every error into an API response (docs/api.md, "Errors"). */
export function registerErrorHandlers(app: FastifyInstance, options: ErrorOptions): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) => sendError(error, request, reply, options));
  app.setNotFoundHandler((request, reply) => {
    const message = 'There is nothing at this address. The reference at /docs lists what there is.';
    return sendError(new AppError('not_found', message), request, reply, options);
  });
}

/** Sets the request id too, because no hook runs for a malformed URL. */
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
  // RFC 9110, 11.6.1: a 401 carries a challenge.
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
  // The client disconnected while it was sending. Nobody reads this response, and it is not an error of the service.
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

/**
 * Responds to what never became a request: header fields that are too large, bytes that are not HTTP, a head that is not
 * complete in time. There is only the socket yet, so the response is written by hand.
 */
export function handleClientErrors(
  options: ErrorOptions & { newRequestId: () => string },
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // The client has closed the connection.
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    if (socket.writable) socket.write(responseText(refusalOf(error.code), options));
    socket.destroySoon();
  };
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The header fields are larger than 16 kB. Send fewer or shorter ones.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time. Send it again.');
    default:
      return new AppError('invalid_request', 'This is not a valid HTTP request (RFC 9112).');
  }
}

function responseText(refusal: AppError, options: ErrorOptions & { newRequestId: () => string }): string {
  const id = options.newRequestId();
  options.log.debug('a request was refused', { request_id: id, code: refusal.code });
  const body = JSON.stringify(errorBody(refusal, { id }, options));
  return [
    `HTTP/1.1 ${refusal.statusCode} ${STATUS_CODES[refusal.statusCode] ?? ''}`,
    `x-request-id: ${id}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(responseHeaders).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}
