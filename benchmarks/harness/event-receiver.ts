import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedEvent {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Of the wall clock. */
  atMs: number;
}

/** A merchant's server, which hands on what arrives. */
export interface EventReceiver {
  url: string;
  /** On how many connections requests have come since the last call. */
  resetConnectionCount(): number;
  close(): Promise<void>;
}

/** `take` says whether the request is answered, with 204 at once, or left hanging. */
export async function startEventReceiver(onEvent: (event: ReceivedEvent) => 'answer' | 'hang'): Promise<EventReceiver> {
  const connections = new Set<Socket>();
  const server = createServer((request, response) => {
    connections.add(request.socket);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const atMs = performance.timeOrigin + performance.now();
      const event = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks), atMs };
      if (onEvent(event) === 'answer') response.writeHead(204).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resetConnectionCount: () => {
      const count = connections.size;
      connections.clear();
      return count;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
