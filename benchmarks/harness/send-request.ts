import type { Pool } from 'undici';

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** The status, `refused` for 429 or 503 with Retry-After, or `no response: <code>` where the connection failed. */
export async function sendRequest(http: Pool, request: LoadRequest): Promise<string> {
  try {
    const response = await http.request(request);
    await response.body.dump();
    const isRefused = [429, 503].includes(response.statusCode) && response.headers['retry-after'] !== undefined;
    return isRefused ? 'refused' : String(response.statusCode);
  } catch (error) {
    return `no response: ${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}`;
  }
}
