import type { Server, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { assertNoSecret } from './searched-output.ts';

/** Who creates or rolls a key or a secret sees it in this response, and never again. */
const showsSecret = /^POST \S*\/(?:(?:keys|endpoints)\/new|roll|rotate|rotate-secret|webhook-endpoints)(?:\?|$)/;

// The pages and bodies of the API are shorter; posters and exports may be longer.
const bytesMax = 400_000;

/**
 * Searches each response of a server from now on for secrets, and returns a function that throws what was found: thrown into the
 * server, it would be answered with 500.
 */
export function searchResponses(server: Server): () => void {
  const found: unknown[] = [];
  server.prependListener('request', ({ method, url }, response) => {
    const request = `${method} ${url}`;
    if (showsSecret.test(request)) return;
    readBody(response, (body) => {
      try {
        assertNoSecret(textOf(body), `the response to ${request}`);
      } catch (error) {
        found.push(error);
      }
    });
  });
  return () => {
    if (found.length > 0) throw found[0];
  };
}

function readBody(response: ServerResponse, onBody: (body: Buffer) => void): void {
  const chunks: Uint8Array[] = [];
  const keep = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(chunk);
  };
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  response.write = ((...values: unknown[]) => {
    keep(values[0]);
    return write(...values);
  }) as ServerResponse['write'];
  response.end = ((...values: unknown[]) => {
    keep(values[0]);
    onBody(Buffer.concat(chunks));
    return end(...values);
  }) as ServerResponse['end'];
}

function textOf(body: Buffer): string {
  if (body.length < 2 || body.length > bytesMax) return '';
  const isCompressed = body.readUInt16BE() === 0x1f8b;
  return (isCompressed ? gunzipSync(body) : body).toString();
}
