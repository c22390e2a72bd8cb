import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestSecured } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Clock } from '../../server/src/kit/clock.ts';
import { errorCode } from '../../server/src/kit/start-error.ts';
import type { OwnReceiver } from './own-receiver.ts';

export interface RawRequest {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The number of chunks of the body, with a delay between them. */
  chunks: number;
}

/** The status of the response, or why there is none. */
export interface ReceiverResponse {
  status: number | null;
  failure: string | null;
  durationMs: number;
}

/** The timeout of the service (docs/events.md, "Responding"). */
export const responseTimeoutMs = 15_000;
const chunkDelayMs = 300;
// Only the status counts.
const responseBytesMax = 64 * 1024;

export interface CheckTarget {
  clock: Clock;
  receiver: OwnReceiver;
  /** Aborts the request under way. */
  signal: AbortSignal;
}

/** Sends one request on its own connection. Never rejects, and follows no redirect. */
export async function sendRequest(target: CheckTarget, rawRequest: RawRequest): Promise<ReceiverResponse> {
  const { clock, signal } = target;
  const timeout = new AbortController();
  const finished = new AbortController();
  void clock.sleep(responseTimeoutMs, finished.signal).then(() => timeout.abort());
  // Measured from the last byte of the request, as the receiver sees it.
  let sentMs = clock.now().getTime();
  const responseOf = (status: number | null, failure: string | null): ReceiverResponse => ({
    status,
    failure,
    durationMs: Math.max(0, clock.now().getTime() - sentMs),
  });
  try {
    const request = openRequest(target, rawRequest, AbortSignal.any([timeout.signal, signal]));
    const statusPromise = statusOf(request);
    // Awaited below; a receiver may respond before it has read the whole body.
    statusPromise.catch(() => {});
    await writeBody(clock, request, rawRequest);
    sentMs = clock.now().getTime();
    return responseOf(await statusPromise, null);
  } catch (error) {
    return responseOf(null, timeout.signal.aborted ? 'timeout' : (errorCode(error) ?? 'broken'));
  } finally {
    finished.abort();
  }
}

function openRequest({ receiver }: CheckTarget, { headers, body }: RawRequest, signal: AbortSignal): ClientRequest {
  const { url, addresses } = receiver;
  const request = url.protocol === 'https:' ? requestSecured : requestPlain;
  return request(url, {
    method: 'POST',
    agent: false,
    signal,
    lookup: fixedLookup(addresses),
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Dalasi-Webhooks',
      'content-length': body.length,
      ...headers,
    },
  });
}

function fixedLookup(addresses: readonly string[]): LookupFunction {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, done) => {
    if (options.all) done(null, records);
    else done(null, records[0]?.address ?? '', records[0]?.family);
  };
}

async function writeBody(clock: Clock, request: ClientRequest, { body, chunks }: RawRequest): Promise<void> {
  const chunkBytes = Math.ceil(body.length / chunks) || 1;
  for (let start = 0; start < body.length; start += chunkBytes) {
    if (start > 0) await clock.sleep(chunkDelayMs);
    if (request.destroyed) return;
    request.write(body.subarray(start, start + chunkBytes));
  }
  request.end();
}

function statusOf(request: ClientRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.once('response', (response: IncomingMessage) => {
      let bytes = 0;
      const status = response.statusCode ?? 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > responseBytesMax) response.destroy();
      });
      response.on('error', reject);
      response.once('close', () => {
        if (response.complete || bytes > responseBytesMax) resolve(status);
        else reject(new Error('The response was cut off.'));
      });
    });
  });
}
