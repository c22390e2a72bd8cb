import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../kit/clock.ts';
import { parseStrictJsonBytes } from '../../kit/strict-json.ts';
import type { JsonValue } from '../../kit/strict-json.ts';
import { accountCredential } from '../../../../simulator/credentials.ts';

/** How a call ended. Only `response` and `not_sent` are certain. */
export type Reply =
  | { kind: 'response'; status: number; body: JsonValue | undefined }
  /** No connection was made, so the network has not received the request. */
  | { kind: 'not_sent'; detail: string }
  /** Part of the request may have been sent, so its effect is unknown. */
  | { kind: 'lost'; detail: string };

export interface Call {
  /** The merchant's account at the network. */
  account: string;
  method: 'GET' | 'POST';
  /** Below the network's base address: `/collections…`, `/payouts…` or `/refunds…`. */
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

/** HTTP client of one network. Calls never reject: a failure is a reply too. */
export interface NetworkClient {
  call(call: Call): Promise<Reply>;
  /** Closes all connections; calls in flight are lost. */
  close(): Promise<void>;
}

export interface NetworkClientOptions {
  network: string;
  baseUrl: () => string;
  bearerSecret: string;
  clock: Clock;
  requestTimeoutMs: number;
  /** Per pool. A bulkhead: a network that hangs occupies its own connections and no other network's. */
  connectionsMax: number;
}

/** A session has some seven hundred bytes. */
const responseBytesMax = 64 * 1024;
// Ends a call whose clock never advances, as in an abandoned simulation.
const lastResortTimeoutMs = 60_000;
// Shorter than the idle timeout of servers, so that no call is sent on a connection that is being closed.
const keepAliveMs = 4_000;

/**
 * A client with keep-alive connections of its own. Payouts, collections and look-ups have a pool each, as they have a
 * queue each: look-ups that hang take no connection from payouts and collections.
 */
export function createNetworkClient(options: NetworkClientOptions): NetworkClient {
  const pools = { collections: createAgent(options), payouts: createAgent(options), lookUps: createAgent(options) };
  return {
    call: (call) => callWithin(pools[poolOf(call)], options, call),
    close: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.destroy()));
    },
  };
}

function createAgent({ connectionsMax, requestTimeoutMs }: NetworkClientOptions): Agent {
  return new Agent({
    connections: connectionsMax,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    maxResponseSize: responseBytesMax,
    connect: { timeout: requestTimeoutMs },
    headersTimeout: lastResortTimeoutMs,
    bodyTimeout: lastResortTimeoutMs,
  });
}

function poolOf({ method, path }: Call): 'collections' | 'payouts' | 'lookUps' {
  if (method === 'GET') return 'lookUps';
  return path.startsWith('/collections') ? 'collections' : 'payouts';
}

async function callWithin(agent: Agent, options: NetworkClientOptions, call: Call): Promise<Reply> {
  const { clock, requestTimeoutMs } = options;
  const limit = new AbortController();
  const finished = new AbortController();
  void clock.sleep(requestTimeoutMs, finished.signal).then(() => limit.abort());
  try {
    const response = await agent.request(requestOptions(options, call, limit.signal));
    return { kind: 'response', status: response.statusCode, body: readJson(await response.body.bytes()) };
  } catch (error) {
    if (limit.signal.aborted) return { kind: 'lost', detail: `no response within ${requestTimeoutMs} ms` };
    const code = errorCode(error);
    return { kind: notSentCodes.has(code) ? 'not_sent' : 'lost', detail: `no response: ${code}` };
  } finally {
    finished.abort();
  }
}

function requestOptions(
  { baseUrl, network, bearerSecret }: NetworkClientOptions,
  { account, method, path, body }: Call,
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  const url = new URL(`${baseUrl()}/simulator/networks/${network}${path}`);
  const authorization = `Bearer ${accountCredential(bearerSecret, { network, account })}`;
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
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
