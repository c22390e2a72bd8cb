/**
 * Requests at a steady rate, whether or not earlier ones have been answered, as independent clients send them: a service that falls
 * behind gets no rest.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { atRate } from './harness/load-rate.ts';
import { printResult, programOptions } from './harness/program.ts';
import { sendRequest } from './harness/send-request.ts';
import { latenciesOf, type Latencies } from './harness/statistics.ts';

export interface OpenLoadOptions {
  url: string;
  path: string;
  body: string;
  /** Of the merchants that send the requests in turn. */
  keys: string[];
  /** Each request has a new Idempotency-Key. */
  idempotent: boolean;
  perSecond: number;
  seconds: number;
  /** At the same rate before, and counted nowhere: this program is slow while it is young. */
  warmUpSeconds: number;
  /** The most requests under way. */
  connections: number;
}

/** Latencies are those of requests that succeeded, from when each was due. */
export interface OpenLoadResult extends Latencies {
  /** How often each status came; `refused` is 429 or 503 with Retry-After, `no response: <code>` a connection that failed. */
  counts: Record<string, number>;
  /** Succeeded by the end of the last second. */
  succeededPerSecond: number;
}

const responseTimeoutMs = 20_000;
const openedAtOnce = 100;

async function load(options: OpenLoadOptions): Promise<OpenLoadResult> {
  const { url, path, body, keys, idempotent, perSecond, seconds, warmUpSeconds, connections } = options;
  const http = new Pool(url, { connections, pipelining: 1, headersTimeout: responseTimeoutMs });
  await open(http, connections);
  let begun = 0;
  const send = (): Promise<string> => {
    const headers = {
      authorization: `Bearer ${keys[begun % keys.length]}`,
      'content-type': 'application/json',
      ...(idempotent && { 'idempotency-key': randomUUID() }),
    };
    begun += 1;
    return sendRequest(http, { method: 'POST', path, body, headers });
  };
  const rate = { perSecond, concurrencyMax: connections };
  await atRate({ ...rate, seconds: warmUpSeconds }, async () => void (await send()));
  const counts: Record<string, number> = {};
  const durationsMs: number[] = [];
  const endsAt = performance.now() + seconds * 1_000;
  let succeededInTime = 0;
  await atRate({ ...rate, seconds }, async (dueAt) => {
    const outcome = await send();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    if (!outcome.startsWith('2')) return;
    durationsMs.push(performance.now() - dueAt);
    if (performance.now() <= endsAt) succeededInTime += 1;
  });
  await http.destroy();
  return { counts, succeededPerSecond: succeededInTime / seconds, ...latenciesOf(durationsMs) };
}

/**
 * Opens all connections, as a proxy keeps them open, a hundred at a time: Node accepts one in each turn of its event loop, and of 1,500
 * that come at once to a busy process some wait longer than for their answer.
 */
async function open(http: Pool, connections: number): Promise<void> {
  const openOne = async () => (await http.request({ method: 'GET', path: '/healthz' })).body.dump();
  for (let opened = 0; opened < connections; opened += openedAtOnce) {
    // All so far are busy, so that each of these needs a connection of its own.
    await Promise.all(Array.from({ length: Math.min(opened + openedAtOnce, connections) }, openOne));
  }
}

printResult(await load(programOptions<OpenLoadOptions>()));
