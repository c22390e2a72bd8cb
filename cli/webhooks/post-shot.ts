import { request as requestPlain } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestSecured } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../server/src/kit/clock.ts';
import { errorCode } from '../../server/src/kit/start-error.ts';
import type { OwnReceiver } from './own-receiver.ts';

export interface ShotRequest {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** In how many pieces the body is written, with a pause between them. */
  pieces: number;
}

/** What the receiver did: a status, or a word for what became of the connection. */
export interface ShotAnswer {
  status: number | null;
  failure: string | null;
  durationMs: number;
}

/** The service waits as long (docs/events.md, "Answering"). */
export const answerMaxMs = 15_000;
const pauseMs = 300;
// What a receiver says beyond its status is of no use here.
const answerBytesMax = 64 * 1024;

export interface ShotTarget {
  clock: Clock;
  receiver: OwnReceiver;
  /** Ends all that is under way. */
  signal: AbortSignal;
}

/** Sends one request on a connection of its own. Never rejects; redirects are an answer like any other. */
export async function postShot(target: ShotTarget, shot: ShotRequest): Promise<ShotAnswer> {
  const { clock, signal } = target;
  const limit = new AbortController();
  const finished = new AbortController();
  void clock.sleep(answerMaxMs, finished.signal).then(() => limit.abort());
  // From the last byte on, as the receiver sees it.
  let sentMs = clock.now().getTime();
  const answered = (status: number | null, failure: string | null): ShotAnswer => ({
    status,
    failure,
    durationMs: Math.max(0, clock.now().getTime() - sentMs),
  });
  try {
    const request = open(target, shot, AbortSignal.any([limit.signal, signal]));
    const answer = statusOf(request);
    // Heard below; a receiver may answer before it has read everything.
    answer.catch(() => {});
    await write(clock, request, shot);
    sentMs = clock.now().getTime();
    return answered(await answer, null);
  } catch (error) {
    return answered(null, limit.signal.aborted ? 'timeout' : (errorCode(error) ?? 'broken'));
  } finally {
    finished.abort();
  }
}

function open({ receiver }: ShotTarget, { headers, body }: ShotRequest, signal: AbortSignal): ClientRequest {
  const { url, addresses } = receiver;
  const request = url.protocol === 'https:' ? requestSecured : requestPlain;
  return request(url, {
    method: 'POST',
    agent: false,
    signal,
    lookup: lookupAmong(addresses),
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Dalasi-Webhooks',
      'content-length': body.length,
      ...headers,
    },
  });
}

function lookupAmong(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, done) => {
    if (options.all) done(null, known);
    else done(null, known[0]?.address ?? '', known[0]?.family);
  };
}

async function write(clock: Clock, request: ClientRequest, { body, pieces }: ShotRequest): Promise<void> {
  const step = Math.ceil(body.length / pieces) || 1;
  for (let start = 0; start < body.length; start += step) {
    if (start > 0) await clock.sleep(pauseMs);
    if (request.destroyed) return;
    request.write(body.subarray(start, start + step));
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
        if (bytes > answerBytesMax) response.destroy();
      });
      response.on('error', reject);
      response.once('close', () => {
        if (response.complete || bytes > answerBytesMax) resolve(status);
        else reject(new Error('The answer was cut off.'));
      });
    });
  });
}
