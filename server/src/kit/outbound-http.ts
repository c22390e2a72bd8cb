import type { Socket } from 'node:net';
import { Agent, Pool } from 'undici';
import type { Clock } from './clock.ts';
import type { ResolveName } from './name-resolver.ts';
import { responseTooLargeCode } from './outbound-response-limit.ts';
import { guardedConnector } from './outbound-connector.ts';
import { assertUrlAllowed, UrlNotAllowedError } from './outbound-guard.ts';
import type { AddressPolicy } from './outbound-guard.ts';

/** Calls addresses that somebody else chose, and never lets them hold us up or look inside. */
export interface OutboundClient {
  /** Never rejects for what the other side does or is: that is its result. */
  post(request: OutboundRequest): Promise<OutboundResult>;
  /** Ends all connections; requests under way end with a failure. */
  close(): Promise<void>;
}

export interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  /** Of the merchant who asks for the call; the rest of the policy is the server's. */
  httpsOnly: boolean;
}

export type OutboundResult =
  | {
      kind: 'answered';
      status: number;
      /** What the other side asked for in `Retry-After`, from now; null when it asked for nothing we understand. */
      retryAfterMs: number | null;
      /** The beginning of the answer as harmless text. */
      excerpt: string;
      durationMs: number;
    }
  | { kind: 'failed'; failure: OutboundFailure; durationMs: number };

export type OutboundFailure =
  /** No whole answer within the time. */
  | 'timeout'
  | 'connect_timeout'
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'dns'
  /** The address may not be called. */
  | 'blocked'
  /** What came is not HTTP. */
  | 'malformed_answer'
  | 'other';

export interface OutboundClientOptions {
  clock: Clock;
  policy: AddressPolicy;
  userAgent: string;
  /** From the start to the last byte of the answer. Default: 15 s (docs/events.md, "Responding"). */
  totalTimeoutMs?: number;
  /** For the look-up of the name, TCP and TLS together. Default: 5 s. */
  connectTimeoutMs?: number;
  /** From this many open connections on, a connection is closed after its request. Default: 256. */
  idleConnectionsMax?: number;
  /** How long a connection waits for the next request. Default: 4 s. */
  keepAliveMs?: number;
  /** How much of an answer's text is handed on. Default: 1 KB, which is what is kept of a merchant's answer. */
  excerptBytesMax?: number;
  /** How a name becomes addresses. Default: without threads, see `createNameResolver`. */
  resolveName?: ResolveName;
}

/** No more of an answer is read: the status has been seen, and who sends more is not answering but sending. */
const responseBytesMax = 64 * 1024;
// Callers bound their requests; this only keeps a mistake of theirs from opening connections without end. No fewer than all
// of theirs: many merchants can have their receivers at one origin, and those that hang must leave room for the others.
const connectionsPerOriginMax = 256;

export function createOutboundClient(options: OutboundClientOptions): OutboundClient {
  const { policy, clock, connectTimeoutMs = 5_000, keepAliveMs = 4_000, resolveName } = options;
  const sockets = new Set<Socket>();
  const agent = new Agent({
    connect: guardedConnector({ policy, clock, connectTimeoutMs, resolveName, sockets }),
    factory: forgettingPool,
    connections: connectionsPerOriginMax,
    pipelining: 1,
    // Otherwise the requests to a new origin would wait for the first one to learn which protocol it speaks.
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // Nobody may ask for more: with names enough one merchant would hold all the connections that are kept.
    keepAliveMaxTimeout: keepAliveMs,
    // The limits above are kept by us, over the whole exchange and not from byte to byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    post: (request) => post({ agent, options, sockets }, request),
    close: () => agent.destroy(),
  };
}

/**
 * The agent forgets an origin when it hears that its last connection has ended. A request that we broke off still counts as
 * waiting in that moment, and the origin would be kept for ever: so the agent hears of it again when the request is gone.
 * Otherwise names without end, each of which leaves one request without an answer, would fill the memory.
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
}

// Given, because an abort without a reason makes an error with its stack each time.
const whenFinished = 'finished';

async function post(client: ClientParts, request: OutboundRequest): Promise<OutboundResult> {
  const { clock, totalTimeoutMs = 15_000 } = client.options;
  const startedAt = clock.now();
  const elapsedMs = (): number => Math.max(0, clock.now().getTime() - startedAt.getTime());
  const timeout = new AbortController();
  const finished = new AbortController();
  void clock.sleep(totalTimeoutMs, finished.signal).then(() => {
    if (!finished.signal.aborted) timeout.abort();
  });
  try {
    const response = await exchange(client, request, timeout.signal);
    return { kind: 'answered', ...response, durationMs: elapsedMs() };
  } catch (error) {
    const failure = timeout.signal.aborted ? 'timeout' : outboundFailure(error);
    return { kind: 'failed', failure, durationMs: elapsedMs() };
  } finally {
    finished.abort(whenFinished);
  }
}

async function exchange(
  { agent, options, sockets }: ClientParts,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<{ status: number; retryAfterMs: number | null; excerpt: string }> {
  // Also what was stored unvalidated is judged here, by the same rules.
  const { policy, clock, userAgent, idleConnectionsMax = 256, excerptBytesMax = 1_024 } = options;
  const url = assertUrlAllowed(request.url, { ...policy, httpsOnly: request.httpsOnly });
  const response = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    headers: { 'user-agent': userAgent, ...request.headers },
    body: request.body,
    signal,
    reset: sockets.size >= idleConnectionsMax,
  });
  const isEncoded = response.headers['content-encoding'] !== undefined;
  const excerpt = await readExcerpt(response.body, { isEncoded, excerptBytesMax });
  return {
    status: response.statusCode,
    retryAfterMs: readRetryAfter(response.headers['retry-after'], clock.now()),
    excerpt,
  };
}

async function readExcerpt(
  body: AsyncIterable<Buffer>,
  { isEncoded, excerptBytesMax }: { isEncoded: boolean; excerptBytesMax: number },
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (bytes < excerptBytesMax) chunks.push(chunk.subarray(0, excerptBytesMax - bytes));
    bytes += chunk.length;
    // Leaving the loop drops the connection.
    if (bytes > responseBytesMax) break;
  }
  return isEncoded ? '' : sanitizedText(Buffer.concat(chunks), excerptBytesMax);
}

/** Without control characters (the database takes no NUL) and without those that turn or hide text on a screen. */
function sanitizedText(bytes: Buffer, bytesMax: number): string {
  const text = textIn(bytes).replace(/[^\P{C}\n\t]/gu, '');
  // What is not UTF-8 has become longer than it was.
  return Buffer.byteLength(text) <= bytesMax ? text : textIn(Buffer.from(text).subarray(0, bytesMax));
}

/** Where the bytes end within a character, it is left out. */
function textIn(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes, { stream: true });
}

/** RFC 9110, 10.2.3: whole seconds, or a date in the one form that is still sent. */
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

// The names under which OpenSSL's verdict on a certificate arrives.
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

/** When every address of a name failed, the errors come in one that may have no code of its own. */
function errorCode(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  if (name === 'HTTPParserError') return 'HPE_';
  return error instanceof AggregateError && error.errors.length > 0 ? errorCode(error.errors[0]) : '';
}
