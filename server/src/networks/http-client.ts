import { Agent, type Dispatcher } from 'undici';
import type { Clock } from '../kit/clock.ts';
import { exchange, type ExchangeLimits } from '../kit/outbound-exchange.ts';
import { parseStrictJsonBytes, type JsonValue } from '../kit/strict-json.ts';
import { TimeLimits } from '../kit/time-limits.ts';

/** How a call ended. Only `response` and `not_sent` are certain. */
export type Reply =
  /** The body is undefined where it is no JSON; `isEmpty` where there is none at all. */
  | { kind: 'response'; status: number; body: JsonValue | undefined; isEmpty?: boolean }
  /** No connection was made, so the network has not received the request. */
  | { kind: 'not_sent'; detail: string }
  /** Part of the request may have been sent, so its effect is unknown. */
  | { kind: 'lost'; detail: string };

/** Calls of one kind share connections, so that look-ups that hang take none from payouts and collections. */
export type ConnectionPool = 'collections' | 'payouts' | 'look_ups';

export interface Call {
  pool: ConnectionPool;
  method: 'GET' | 'POST' | 'PATCH';
  /** Below the base URL, with its query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  /** The bytes that are signed are the bytes that are sent. */
  body?: string;
}

/** HTTP client of one account at a network or aggregator. Calls never reject: a failure is a reply too. */
export interface NetworkClient {
  call(call: Call): Promise<Reply>;
  /** Closes all connections; calls in flight are lost. */
  close(): Promise<void>;
}

export interface NetworkClientOptions {
  /** Without a trailing slash. Read for each call. */
  baseUrl: () => string;
  clock: Clock;
  callTimeoutMs: number;
  /** Per pool. A bulkhead: an account whose network hangs occupies its own connections and no other's. Default: 64. */
  connectionsMax?: number;
}

/** What a connector reads has a few kilobytes; a page of a statement, some hundred. */
const responseBytesMax = 4 * 1024 * 1024;
// Ends a call whose clock never advances, as in an abandoned simulation.
const lastResortTimeoutMs = 60_000;
// Shorter than the idle timeout of servers, so that no call is sent on a connection that is being closed.
const keepAliveMs = 4_000;

export function createNetworkClient(options: NetworkClientOptions): NetworkClient {
  const time: ExchangeLimits['time'] = new TimeLimits(options.clock, options.callTimeoutMs);
  const pools: Record<ConnectionPool, Agent> = {
    collections: createAgent(options),
    payouts: createAgent(options),
    look_ups: createAgent(options),
  };
  return {
    call: (call) => callWithin({ agent: pools[call.pool], time }, options, call),
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
    },
  };
}

// As many as one merchant has payouts under way: those that wait for a connection use up the time of their call.
const usualConnectionsMax = 64;

function createAgent({ connectionsMax = usualConnectionsMax, callTimeoutMs }: NetworkClientOptions): Agent {
  return new Agent({
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxResponseSize: responseBytesMax,
    connect: { timeout: callTimeoutMs },
    headersTimeout: lastResortTimeoutMs,
    bodyTimeout: lastResortTimeoutMs,
  });
}

async function callWithin(
  { agent, time }: { agent: Agent; time: ExchangeLimits['time'] },
  options: NetworkClientOptions,
  call: Call,
): Promise<Reply> {
  const limits = { startedAtMs: options.clock.now().getTime(), returnedBytesMax: responseBytesMax, time };
  const end = await exchange(agent, requestOptions(options, call), { ...limits, readBytesMax: responseBytesMax });
  switch (end.kind) {
    case 'answered': {
      const isEmpty = end.body.length === 0;
      return { kind: 'response', status: end.status, body: readJson(end.body), ...(isEmpty ? { isEmpty } : {}) };
    }
    case 'timeout':
      return { kind: 'lost', detail: `no response within ${options.callTimeoutMs} ms` };
    case 'failed': {
      const code = errorCode(end.error);
      return { kind: notSentCodes.has(code) ? 'not_sent' : 'lost', detail: `no response: ${code}` };
    }
  }
}

function requestOptions(
  { baseUrl }: NetworkClientOptions,
  { method, path, headers, body }: Call,
): Dispatcher.DispatchOptions {
  const url = new URL(`${baseUrl()}${path}`);
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: body ?? null,
  };
}

function readJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseStrictJsonBytes(bytes);
  } catch {
    return undefined;
  }
}

// Errors of connecting and of name resolution; a connection that is lost later has other codes.
const notSentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** The error's code only; messages may contain addresses and request data. */
function errorCode(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}
