import { isObject, textOf } from '../../server/src/kit/untyped.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import { reasonOf } from '../../server/src/kit/start-error.ts';
import { CommandFailure } from '../command.ts';
import { sanitizeLine } from '../../server/src/kit/terminal-text.ts';
import type { ApiSettings } from './settings.ts';

export type Query = Readonly<Record<string, string | number | undefined>>;

/** The API as a merchant's server sees it. A call that fails throws ApiError or ApiUnavailable. */
export interface Api {
  url: string;
  testMode: boolean;
  get(path: string, query?: Query): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<JsonObject>;
  send(method: 'PUT' | 'DELETE', path: string, body?: unknown): Promise<JsonObject>;
}

export type JsonObject = Record<string, unknown>;

export interface ApiResponse {
  body: JsonObject;
  /** The body as received: parsing may lose digits. */
  text: string;
  /** The service's time, to the second; null where something between has left it out. */
  at: Date | null;
}

/** The API has refused the request; the message is the API's. */
export class ApiError extends CommandFailure {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** No response, a response that is not the API's, or a server error: a retry may succeed. */
export class ApiUnavailable extends CommandFailure {}

// The API usually responds within a second; the slowest list takes less than ten.
const responseTimeoutMs = 30_000;
// A hundred events with the largest metadata take 7 MB.
const responseBytesMax = 32 * 1024 * 1024;
const attemptsMax = 4;
const retryDelayMaxMs = 30_000;

export function createApi(clock: Clock, { url, key, testMode }: ApiSettings, signal?: AbortSignal): Api {
  const call = async (method: string, path: string, init: CallInit = {}): Promise<ApiResponse> => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await exchange({ url, key, signal }, method, path, init);
      // A rate-limited request had no effect, so that any request can be sent again.
      if (response.status !== 429 || attempt === attemptsMax || signal?.aborted) return checkResponse(url, response);
      await clock.sleep(Math.min(response.retryAfterMs, retryDelayMaxMs), signal);
    }
  };
  return {
    url,
    testMode,
    get: (path, query = {}) => call('GET', path + queryText(query)),
    post: async (path, body, headers = {}) => (await call('POST', path, { body, headers })).body,
    send: async (method, path, body) => (await call(method, path, { body })).body,
  };
}

interface CallInit {
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

interface RawResponse {
  status: number;
  text: string;
  isJson: boolean;
  retryAfterMs: number;
  at: Date | null;
}

async function exchange(
  { url, key, signal }: { url: string; key: string; signal: AbortSignal | undefined },
  method: string,
  path: string,
  { body, headers }: CallInit,
): Promise<RawResponse> {
  const timeout = AbortSignal.timeout(responseTimeoutMs);
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect must not carry the key to another address.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    return {
      status: response.status,
      text: await readText(response),
      isJson: response.headers.get('content-type')?.startsWith('application/json') ?? false,
      retryAfterMs: Number(response.headers.get('retry-after') ?? '1') * 1_000 || 1_000,
      at: timeOf(response.headers.get('date')),
    };
  } catch (error) {
    throw new ApiUnavailable(unavailableMessage(url, error));
  }
}

function timeOf(header: string | null): Date | null {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? null : new Date(ms);
}

/** Throws when it is longer than any response of the API. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > responseBytesMax) throw new Error(`its response is longer than ${responseBytesMax / 1024 / 1024} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unavailableMessage(url: string, error: unknown): string {
  const reason = reasonOf((error as { cause?: unknown }).cause ?? error);
  if (reason === 'ECONNREFUSED') {
    return `No server listens at ${url}. Start the service (npm start), or set its address with --url or DALASI_URL.`;
  }
  if ((error as Error).name === 'TimeoutError')
    return `${url} has not responded within ${responseTimeoutMs / 1_000} seconds.`;
  return `${url} cannot be reached: ${reason}.`;
}

function checkResponse(url: string, { status, text, isJson, at }: RawResponse): ApiResponse {
  const body = isJson ? parse(text) : undefined;
  if (body && status < 300) return { text, body, at };
  const message = typeof body?.['message'] === 'string' ? sanitizeLine(body['message']) : undefined;
  if (message === undefined) {
    throw new ApiUnavailable(`${url} responded with ${status}, but not as this service does. Check the address.`);
  }
  if (status === 429 || status >= 500) throw new ApiUnavailable(message);
  throw new ApiError(status, textOf(body?.['code']), message + fieldMessages(body, message));
}

/** Undefined for anything but a JSON object: a proxy may have cut or replaced the response. */
function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The errors of single fields, without the one that is the main message. */
function fieldMessages(body: JsonObject | undefined, mainMessage: string): string {
  const errors: unknown[] = Array.isArray(body?.['errors']) ? body['errors'] : [];
  const fieldErrors = errors.map((error) => {
    const { path, message } = isObject(error) ? error : {};
    return { path: textOf(path), message: textOf(message) };
  });
  const others = fieldErrors.filter(({ message }) => message !== mainMessage);
  return others.map(({ path, message }) => `\n  ${sanitizeLine(`${path}: ${message}`)}`).join('');
}

function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.append(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
