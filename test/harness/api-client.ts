/** A merchant's server, as plain as can be: one request, one answer. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

export interface ApiClient {
  get(path: string): Promise<ApiResponse>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
  send(method: string, path: string, init?: { body?: string; headers?: Record<string, string> }): Promise<ApiResponse>;
}

export function createApiClient(url: string, key: string): ApiClient {
  const send: ApiClient['send'] = async (method, path, init = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
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
