import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../api/app-error.ts';
import { responseHeaders, errorBody } from './error-responses.ts';
import type { ErrorOptions } from './error-responses.ts';

/**
 * Answers what never became a request: too large header fields, something that is not HTTP, a head that does not come
 * to its end in time. Nothing but the socket is there yet, so the answer is written by hand.
 */
export function handleClientErrors(
  options: ErrorOptions & { newRequestId: () => string },
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    // A socket that its other end has closed takes no answer.
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
      return new AppError('invalid_request', 'This is not an HTTP request as RFC 9112 says.');
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
