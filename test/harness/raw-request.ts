import { once } from 'node:events';
import { connect } from 'node:net';
import { parseApiResponse, type ApiResponse } from './api-client.ts';

/**
 * Sends raw bytes that no HTTP client would send, and reads one response until the server closes the connection; the
 * request must have `Connection: close`.
 */
export async function sendRaw(url: string, request: string | Buffer): Promise<ApiResponse> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The server may refuse and close before it has read everything.
  socket.on('error', () => {});
  socket.write(request);
  await once(socket, 'close');
  return parseResponse(Buffer.concat(chunks).toString('utf8'));
}

/** The head of a request with its empty line. */
export function rawHead(method: string, path: string, headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');
}

function parseResponse(raw: string): ApiResponse {
  const end = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = raw.slice(0, end).split('\r\n');
  const text = raw.slice(end + 4);
  const headers = new Headers(
    fields.map((field): [string, string] => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1).trim()];
    }),
  );
  return parseApiResponse(Number(statusLine.split(' ')[1]), headers, text);
}
