import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assertNoSecret } from './searched-output.ts';

export interface ReceivedCallback {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A real HTTP server that records the requests. */
export interface CallbackReceiver {
  url: string;
  received: ReceivedCallback[];
  /** The status of the next responses; with null the server never responds. */
  respondWith(status: number | null): void;
  close(): Promise<void>;
}

export async function startCallbackReceiver({ port = 0 }: { port?: number } = {}): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  let responseStatus: number | null = 200;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks) });
      if (responseStatus !== null) res.writeHead(responseStatus).end();
    });
  });
  // The client closes idle connections. If the server did too, it would now and then reset one under a request.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    respondWith: (status) => {
      responseStatus = status;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      // What stands in `authorization` is a client's own key for this server.
      for (const {
        headers: { authorization: _key, ...headers },
        body,
      } of received) {
        assertNoSecret(`${JSON.stringify(headers)} ${body.toString()}`, 'a callback');
      }
    },
  };
}
