import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { Log } from '../kit/log.ts';
import { PublicError } from '../kit/public-error.ts';
import { pathOf, RouteMethods } from '../kit/route-methods.ts';
import { isServerError, logRefusal } from '../api/log-refusal.ts';
import { prefersHtml } from './accept.ts';
import type { OpenExchanges } from './open-exchanges.ts';
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
  /** Without it browsers get JSON too. */
  browserErrors?: BrowserErrors;
}

/** Pages for browsers in place of JSON. */
interface BrowserErrors {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    error: { status: number; home: string | null },
  ): Promise<FastifyReply>;
  render(status: number, requestId: string): { headers: Record<string, string>; text: string };
}

/** Header fields of every response, unless a page sets its own: no caching, and no guessing of the content type. */
export const responseHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Turns every error into an API response (docs/api.md, "Errors"), or into a page for a browser. */
export function registerErrorHandlers(app: FastifyInstance, options: ErrorOptions): void {
  const methods = new RouteMethods();
  app.addHook('onRoute', (route) => methods.add(route));
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply) => {
    // The API's own wrong methods are refused after its authentication.
    const allowed = isApiPath(request.url) ? [] : methods.at(request.url);
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    const home = allowed.includes('GET') ? pathOf(request.url) : null;
    return sendError(notFound(allowed), request, reply, { ...options, home });
  };
  app.setErrorHandler((error: FastifyError | Error, request, reply) =>
    // For example a body that no route accepts: that the path is unknown comes first.
    request.is404 && !isServerError(error) ? sendNotFound(request, reply) : sendError(error, request, reply, options),
  );
  app.setNotFoundHandler(sendNotFound);
}

function notFound(allowed: readonly string[]): AppError {
  return allowed.length > 0 ? methodNotAllowed(allowed) : unknownPath();
}

export function unknownPath(): AppError {
  return new AppError('not_found', 'Not found. See the API reference at /docs.');
}

/** Names the methods of a path (`kit/route-methods.ts`) to a request with another one. */
export function methodNotAllowed(allowed: readonly string[]): AppError {
  const methods = new Intl.ListFormat('en-GB').format(allowed);
  return new AppError('method_not_allowed', `This path supports ${methods}.`);
}

function isApiPath(url: string): boolean {
  return /^\/v1(?:[/?]|$)/.test(url);
}

/** Whether an error at this address is a page: for a browser that opens an address, but never under /v1. */
function isForBrowser(url: string, accept: string | undefined): boolean {
  return !isApiPath(url) && prefersHtml(accept);
}

/** Sets the request id too, because no hook runs for a malformed URL. */
export function sendError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ErrorOptions & { home?: string | null },
): FastifyReply | Promise<FastifyReply> {
  const appError = toAppError(error, request);
  const fields = { request_id: request.id, code: appError.code, internal: appError.internal };
  if (isServerError(appError)) options.log.error('a request failed', error, fields);
  else logRefusal(options.log, request.id, appError);
  if (appError.retryAfterSeconds !== undefined) reply.header('retry-after', appError.retryAfterSeconds);
  // RFC 9110, 11.6.1: a 401 carries a challenge.
  if (appError.statusCode === 401) reply.header('www-authenticate', 'Bearer');
  reply.headers({ ...responseHeaders, 'x-request-id': request.id });
  if (options.browserErrors && isForBrowser(request.url, request.headers.accept)) {
    const status = isMalformedUrl(error) ? 400 : appError.statusCode;
    return options.browserErrors.send(request, reply, { status, home: options.home ?? null });
  }
  return reply
    .code(appError.statusCode)
    .type('application/json; charset=utf-8')
    .send(errorBody(appError, request, options));
}

function isMalformedUrl(error: FastifyError | Error): boolean {
  return 'code' in error && error.code === 'FST_ERR_BAD_URL';
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

const internalErrorMessage = 'An internal error occurred and was logged. Retry, or quote request_id to the operator.';

function toAppError(error: FastifyError | Error, request: FastifyRequest): PublicError {
  if (error instanceof PublicError) return error;
  // The client disconnected while it was sending. Nobody reads this response, and it is not an error of the service.
  if (request.raw.errored === error) return new AppError('invalid_request', 'The request was incomplete.');
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
      return new AppError('not_found', 'Not found.');
    default:
      return new AppError('internal_error', internalErrorMessage, { cause: error });
  }
}

/**
 * Responds to what never became a request: header fields that are too large, bytes that are not HTTP, a head that is not
 * complete in time. There is only the socket yet, so the response is written by hand. Requests that arrived whole before it get
 * their responses first: some clients send more bytes than `Content-Length` says, and must not read that a transfer was refused.
 */
export function handleClientErrors(
  options: ErrorOptions & { newRequestId: () => string; exchanges: OpenExchanges },
): (error: ClientError, socket: Socket) => void {
  // What follows such bytes is an error once more.
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    // The client has closed the connection.
    if (error.code === 'ECONNRESET' || socket.destroyed || refused.has(socket)) return;
    refused.add(socket);
    const refuse = (): void => {
      if (socket.writable) socket.write(responseText(refusalOf(error.code), options, isSentByBrowser(error)));
      socket.destroySoon();
    };
    const owed = options.exchanges.lastOwed(socket);
    if (owed) owed.once('close', refuse);
    else refuse();
  };
}

/** `rawPacket` is the buffer that Node read last. */
type ClientError = Error & { code?: string; rawPacket?: unknown };

/** Whether the bytes begin like a browser's request for a page, as far as they are known. */
function isSentByBrowser({ rawPacket }: ClientError): boolean {
  const head = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
  const [, url] = /^[A-Z]+ (\/\S*)/.exec(head) ?? [];
  return url !== undefined && isForBrowser(url, /\r\naccept:([^\r\n]*)/i.exec(head)?.[1]);
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

function responseText(
  refusal: AppError,
  options: ErrorOptions & { newRequestId: () => string },
  isForBrowsers: boolean,
): string {
  const id = options.newRequestId();
  options.log.debug('a request was refused', { request_id: id, code: refusal.code });
  const page = isForBrowsers ? options.browserErrors?.render(refusal.statusCode, id) : undefined;
  const body = page?.text ?? JSON.stringify(errorBody(refusal, { id }, options));
  const headers = { ...responseHeaders, 'content-type': 'application/json; charset=utf-8', ...page?.headers };
  return [
    `HTTP/1.1 ${refusal.statusCode} ${STATUS_CODES[refusal.statusCode] ?? ''}`,
    `x-request-id: ${id}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n');
}
