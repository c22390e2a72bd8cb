import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { Clock } from '../../kit/clock.ts';
import { parseStrictJsonBytes } from '../../kit/strict-json.ts';
import type { JsonValue } from '../../kit/strict-json.ts';
import { accountCredential } from '../../../../simulator/credentials.ts';

/** What came of a call. Only `not_sent` and an answer say anything for certain. */
export type Reply =
  | { kind: 'answer'; status: number; body: JsonValue | undefined }
  /** No connection came about, so the network has seen nothing of this call. */
  | { kind: 'not_sent'; detail: string }
  /** Something may have been sent: anything may have happened. */
  | { kind: 'lost'; detail: string };

export interface Call {
  /** The merchant's account at the network. */
  account: string;
  method: 'GET' | 'POST';
  /** Behind the network's own address: `/collections…`, `/payouts…` or `/refunds…`. */
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

/** One network's HTTP side. Never rejects: what goes wrong is a reply too. */
export interface NetworkClient {
  call(call: Call): Promise<Reply>;
  /** Ends all connections; calls under way are lost. */
  close(): Promise<void>;
}

export interface NetworkClientOptions {
  network: string;
  baseUrl: () => string;
  bearerSecret: string;
  clock: Clock;
  requestTimeoutMs: number;
  /** Of each pool. The bulkhead: a network that hangs keeps these connections busy, and no other network's. */
  connectionsMax: number;
}

/** A session has some seven hundred bytes. */
const responseBytesMax = 64 * 1024;
// Ends a call whose clock stands still, as in a simulation that was abandoned.
const lastResortTimeoutMs = 60_000;
// Below what servers close idle connections after, so that a call does not meet a connection that is being closed.
const keepAliveMs = 4_000;

/**
 * A client with connections of its own, kept open between calls. What pays out, what begins a collection or goes on with
 * it, and what only asks have a pool each, as they have a queue each: look-ups that hang leave no send without a
 * connection.
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
    return { kind: 'answer', status: response.statusCode, body: readJson(await response.body.bytes()) };
  } catch (error) {
    if (limit.signal.aborted) return { kind: 'lost', detail: `no answer within ${requestTimeoutMs} ms` };
    const code = errorCode(error);
    return { kind: notSentCodes.has(code) ? 'not_sent' : 'lost', detail: `no answer: ${code}` };
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

// Errors of connecting and of looking a name up; a connection that was made and lost has other codes.
const notSentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** The error's own word; messages may hold addresses and what was sent. */
function errorCode(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}
