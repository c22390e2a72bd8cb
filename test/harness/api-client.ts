import assert from 'node:assert/strict';
import { request } from 'undici';
import { assertNoSecret } from './searched-output.ts';

/** A response of the API. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

/** A merchant's server: one request, one response, no retries. */
export interface ApiClient {
  get(path: string): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  send(method: string, path: string, init?: { body?: string; headers?: Record<string, string> }): Promise<ApiResponse>;
}

export function createApiClient(url: string, key: string): ApiClient {
  const send: ApiClient['send'] = async (method, path, init = {}) => {
    // A run sends tens of thousands of requests, and `fetch` takes twice the time.
    const { statusCode, headers, body } = await request(url + path, {
      method: method as 'GET',
      headers: { authorization: `Bearer ${key}`, ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const lines = Object.entries(headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value) => [name, value]),
    );
    return parseApiResponse(statusCode, new Headers(lines as [string, string][]), await body.text());
  };
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body, headers = {}) =>
      send('POST', path, {
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      }),
  };
}

/** A body that is not JSON, or empty, is `{}`. No refusal of any test repeats a secret. */
export function parseApiResponse(status: number, headers: Headers, text: string): ApiResponse {
  if (status >= 400) assertNoSecret(text, 'a refusal');
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status, headers, text, body: isJson && text !== '' ? (JSON.parse(text) as ApiResponse['body']) : {} };
}

/** A direct charge of D100 by APS; returns the intent's id. */
export async function createCharge(api: ApiClient, accountNumber = '7000001'): Promise<string> {
  const data = { amount: 100, network: 'aps', account_number: accountNumber };
  const { status, body, text } = await api.post('/v1/payments', { data });
  assert.equal(status, 201, text);
  return String(body['payment_intent_id']);
}
