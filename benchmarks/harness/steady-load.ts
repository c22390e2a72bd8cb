import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { creationBody } from './creation-statements.ts';
import { atRate } from './load-rate.ts';
import { sendRequest } from './send-request.ts';
import { transferBody, transferPath } from './transfer-statements.ts';

/** A request of the load, with its times on the clock of `performance`. */
export interface SentRequest {
  route: string;
  /** `2xx`, or why not, as `sendRequest` has it. */
  outcome: string;
  dueAt: number;
  /** From when it was due to the end of its response. */
  elapsedMs: number;
}

export interface SteadyLoad {
  /** The requests that have ended so far. */
  sent: SentRequest[];
  /** Resolves when the last request has ended. */
  stop(): Promise<void>;
}

const connections = 200;
const responseTimeoutMs = 20_000;

interface Route {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

/**
 * A business's requests by the clock, whether or not earlier ones have been answered: three fifths create payments, the others read
 * one of `paymentIds`, list the first page, and create transfers.
 */
export function startSteadyLoad(
  { url, key }: { url: string; key: string },
  { perSecond, paymentIds }: { perSecond: number; paymentIds: readonly string[] },
): SteadyLoad {
  const http = new Pool(url, { connections, pipelining: 1, headersTimeout: responseTimeoutMs });
  const ending = new AbortController();
  const sent: SentRequest[] = [];
  let begun = 0;
  const rate = { perSecond, seconds: Infinity, signal: ending.signal, concurrencyMax: connections };
  const running = atRate(rate, async (dueAt) => {
    const { name: route, method, path, body } = routeOf(begun, paymentIds);
    begun += 1;
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && jsonHeaders()) };
    const outcome = await sendRequest(http, { method, path, headers, ...(body !== undefined && { body }) });
    sent.push({ route, outcome, dueAt, elapsedMs: performance.now() - dueAt });
  });
  return {
    sent,
    stop: async () => {
      ending.abort();
      await running;
      await http.destroy();
    },
  };
}

const jsonHeaders = () => ({ 'content-type': 'application/json', 'idempotency-key': randomUUID() });

/** In each fifteen, nine creations, and two of each other kind. */
function routeOf(index: number, paymentIds: readonly string[]): Route {
  if (index % 5 < 3) return { name: 'POST /v1/payments', method: 'POST', path: '/v1/payments', body: creationBody };
  const other = 2 * Math.floor(index / 5) + (index % 5) - 3;
  const id = paymentIds[other % paymentIds.length] ?? '';
  if (other % 3 === 0) return { name: 'GET /v1/payments/{id}', method: 'GET', path: `/v1/payments/${id}` };
  if (other % 3 === 1) return { name: 'GET /v1/payments', method: 'GET', path: '/v1/payments' };
  return { name: `POST ${transferPath}`, method: 'POST', path: transferPath, body: transferBody };
}
