import type { Socket } from 'node:net';
import { Agent, Pool } from 'undici';
import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';
import type { ResolveName } from './name-resolver.ts';
import { responseTooLargeCode } from './outbound-response-limit.ts';
import { guardedConnector } from './outbound-connector.ts';
import { assertUrlAllowed, UrlNotAllowedError, type AddressPolicy, type OutboundPolicy } from './outbound-guard.ts';
import { exchange, type ExchangeEnd, type ExchangeLimits } from './outbound-exchange.ts';
import { TimeLimits } from './time-limits.ts';

/** Sends requests to URLs that somebody else chose; all are bounded in time and size, and none reaches a private network. */
export interface OutboundClient {
  /** Never rejects because of the receiver: failures are results. */
  post(request: OutboundRequest): Promise<OutboundResult>;
  /** Closes all connections; requests under way fail. */
  close(): Promise<void>;
}

export interface OutboundRequest {
  /** Default: POST. PUT replaces what is at the URL, as some networks send callbacks. */
  method?: 'POST' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** The rest of the policy is the client's. */
  httpsOnly: boolean;
}

export type OutboundResult =
  | {
      kind: 'answered';
      status: number;
      /** `Retry-After`, from now; null where it is missing or malformed. */
      retryAfterMs: number | null;
      /** The beginning of the response body as sanitized text. */
      excerpt: string;
      durationMs: number;
    }
  | { kind: 'failed'; failure: OutboundFailure; durationMs: number };

export type OutboundFailure =
  /** No complete response within the time limit. */
  | 'timeout'
  | 'connect_timeout'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'dns'
  /** The address may not be called. */
  | 'blocked'
  /** The response is not HTTP. */
  | 'malformed_answer'
  | 'other';

export interface OutboundClientOptions {
  clock: Clock;
  policy: AddressPolicy;
  userAgent: string;
  /** From the start to the last byte of the response. Default: 15 s (docs/events.md, "Responding"). */
  totalTimeoutMs?: number;
  /** For name resolution, TCP and TLS together. Default: 5 s. */
  connectTimeoutMs?: number;
  /** From this many open connections on, a connection is closed after its request. Default: 256. */
  idleConnectionsMax?: number;
  /** How long a connection waits for the next request. Default: 4 s. */
  keepAliveMs?: number;
  /** How much of the response body is returned. Default: 1 KB. */
  excerptBytesMax?: number;
  /** How a name becomes addresses. Default: without threads, see `createNameResolver`. */
  resolveName?: ResolveName;
}

/** No more of a response body is read: the status is known by then. */
const responseBytesMax = 64 * 1024;
// Callers limit their own concurrency; this only contains a bug of theirs. No lower than their limit: many receivers can share
// one origin, and those that hang must leave connections to the others.
const connectionsPerOriginMax = 256;
const targetsMax = 1_000;

export function createOutboundClient(options: OutboundClientOptions): OutboundClient {
  const { policy, clock, resolveName } = options;
  const { totalTimeoutMs = 15_000, connectTimeoutMs = 5_000, keepAliveMs = 4_000 } = options;
  const sockets = new Set<Socket>();
  const agent = new Agent({
    connect: guardedConnector({ policy, clock, connectTimeoutMs, resolveName, sockets }),
    factory: forgettingPool,
    connections: connectionsPerOriginMax,
    pipelining: 1,
    // With HTTP/2 the requests to a new origin would wait for the first one to negotiate the protocol.
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // A receiver cannot extend it: otherwise one owner of many names could occupy all idle connections.
    keepAliveMaxTimeout: keepAliveMs,
    // `totalTimeoutMs` limits the whole exchange; these would limit the gaps between bytes.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const time: ExchangeLimits['time'] = new TimeLimits(clock, totalTimeoutMs);
  const client = { agent, options, sockets, time, targets: new BoundedMap<string, Target>(targetsMax) };
  return {
    post: (request) => post(client, request),
    close: () => agent.destroy(),
  };
}

/**
 * The agent removes an origin when its last connection ends. An aborted request still counts as pending at that moment, and
 * the origin would stay in memory forever; so the event is repeated once the request is gone. Otherwise an endless series of
 * names that do not respond would fill the memory.
 */
function forgettingPool(origin: string | URL, options: object): Pool {
  const pool = new Pool(origin, options);
  return pool.on('disconnect', (url, _targets, error) => {
    setImmediate(() => pool.emit('connectionError', url, [], error));
  });
}

interface ClientParts {
  agent: Agent;
  options: OutboundClientOptions;
  sockets: ReadonlySet<Socket>;
  time: ExchangeLimits['time'];
  /** By URL, those that the rules allow: they do not change, and a merchant's URL is called again and again. */
  targets: BoundedMap<string, Target>;
}

/** What a request to a URL is sent to. */
interface Target {
  origin: string;
  path: string;
}

async function post(client: ClientParts, request: OutboundRequest): Promise<OutboundResult> {
  const { clock, excerptBytesMax = 1_024 } = client.options;
  const startedAtMs = clock.now().getTime();
  const end = await send(client, request, { startedAtMs, returnedBytesMax: excerptBytesMax });
  const now = clock.now();
  const durationMs = Math.max(0, now.getTime() - startedAtMs);
  if (end.kind === 'timeout') return { kind: 'failed', failure: 'timeout', durationMs };
  if (end.kind === 'failed') return { kind: 'failed', failure: outboundFailure(end.error), durationMs };
  const { status, headers, body } = end;
  const isEncoded = headers['content-encoding'] !== undefined;
  return {
    kind: 'answered',
    status,
    retryAfterMs: readRetryAfter(headers['retry-after'], now),
    excerpt: isEncoded ? '' : sanitizedText(body, excerptBytesMax),
    durationMs,
  };
}

async function send(
  { agent, options, sockets, targets, time }: ClientParts,
  { method = 'POST', url, headers, body, httpsOnly }: OutboundRequest,
  limits: { startedAtMs: number; returnedBytesMax: number },
): Promise<ExchangeEnd> {
  const { policy, userAgent, idleConnectionsMax = 256 } = options;
  try {
    const target = targetOf(targets, url, { ...policy, httpsOnly });
    const reset = sockets.size >= idleConnectionsMax;
    const request = { ...target, method, headers: { 'user-agent': userAgent, ...headers }, body, reset };
    return await exchange(agent, request, { ...limits, readBytesMax: responseBytesMax, time });
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/** URLs that were stored without validation are checked here, by the same rules. Throws UrlNotAllowedError. */
function targetOf(targets: BoundedMap<string, Target>, text: string, policy: OutboundPolicy): Target {
  const key = `${policy.httpsOnly} ${text}`;
  const known = targets.get(key);
  if (known) return known;
  const url = assertUrlAllowed(text, policy);
  const target = { origin: url.origin, path: url.pathname + url.search };
  targets.set(key, target);
  return target;
}

/** Without control characters (PostgreSQL refuses NUL) and without those that reverse or hide text on a screen. */
function sanitizedText(bytes: Buffer, bytesMax: number): string {
  if (bytes.length === 0) return '';
  const text = textIn(bytes).replace(/[^\P{C}\n\t]/gu, '');
  // Replacing invalid UTF-8 makes text longer.
  return Buffer.byteLength(text) <= bytesMax ? text : textIn(Buffer.from(text).subarray(0, bytesMax));
}

/** A character that is cut off at the end is left out. */
function textIn(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes, { stream: true });
}

/** RFC 9110, 10.2.3: whole seconds, or a date in the preferred form. */
function readRetryAfter(header: string | string[] | undefined, now: Date): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return null;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? null : Math.max(0, dateMs - now.getTime());
}

const failuresByCode = new Map<string, OutboundFailure>([
  ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout'],
  ['ETIMEDOUT', 'connect_timeout'],
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EADDRNOTAVAIL', 'unreachable'],
  ['UND_ERR_SOCKET', 'reset'],
  ['ECONNRESET', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
  ['UND_ERR_HEADERS_OVERFLOW', 'malformed_answer'],
  [responseTooLargeCode, 'malformed_answer'],
  ['EPROTO', 'tls'],
]);

// The codes of OpenSSL's certificate errors.
const certificateCodes =
  /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/;
const resolverCodes = /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|ETIMEOUT|EBADRESP|EBADNAME|EAI_\w+)$/;

function outboundFailure(error: unknown): OutboundFailure {
  if (error instanceof UrlNotAllowedError) return 'blocked';
  const code = errorCode(error);
  if (certificateCodes.test(code)) return 'tls';
  if (resolverCodes.test(code)) return 'dns';
  if (code.startsWith('HPE_')) return 'malformed_answer';
  return failuresByCode.get(code) ?? 'other';
}

/** When every address of a name failed, there is an AggregateError, which may have no code of its own. */
function errorCode(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  if (name === 'HTTPParserError') return 'HPE_';
  return error instanceof AggregateError && error.errors.length > 0 ? errorCode(error.errors[0]) : '';
}
