import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Service } from './service.ts';

export interface Visit {
  /** The dashboard of the test environment. */
  url: string;
  cookie: string;
}

/** Signs the demo's owner in, who lands on the dashboard of the only business. */
export async function signIn({ url, login }: Service): Promise<Visit> {
  const { email, password } = login;
  const response = await fetch(`${url}/dashboard/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', accept: 'text/html' },
    body: new URLSearchParams({ email, password }),
    redirect: 'manual',
  });
  const cookie = response.headers
    .getSetCookie()
    .map((header) => header.split(';')[0])
    .join('; ');
  let path = response.headers.get('location') ?? '';
  while (!/^\/dashboard\/test\/\w+$/.test(path)) {
    const next = await fetch(url + path, { headers: { cookie, accept: 'text/html' }, redirect: 'manual' });
    const target = next.headers.get('location');
    if (target === null) throw new Error(`the sign-in ended at ${path} with ${next.status}`);
    path = target;
  }
  return { url: url + path, cookie };
}

interface Opened {
  text: string;
  /** As sent, compressed. */
  bytes: number;
  elapsedMs: number;
}

export async function open({ url, cookie }: Visit, path: string): Promise<Opened> {
  const address = path.startsWith('http') ? path : url + path;
  const startedAt = performance.now();
  const response = await fetch(address, { headers: { cookie, accept: 'text/html', 'accept-encoding': 'identity' } });
  const text = await response.text();
  const elapsedMs = performance.now() - startedAt;
  if (response.status !== 200) throw new Error(`${address} returned ${response.status}`);
  return { text, bytes: await compressedBytes(address, cookie), elapsedMs };
}

/** The length of the compressed body, which `fetch` hides. */
export async function compressedBytes(address: string, cookie: string): Promise<number> {
  const body = await new Promise<Buffer>((resolve, reject) => {
    const sent = request(
      address,
      { headers: { cookie, accept: 'text/html', 'accept-encoding': 'gzip' } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
  gunzipSync(body);
  return body.length;
}
