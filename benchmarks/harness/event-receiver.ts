import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedEvent {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** By the wall clock. */
  atMs: number;
}

/** A merchant's server that passes each event to a listener. */
export interface EventReceiver {
  url: string;
  /** The number of connections with requests since the last call. */
  resetConnectionCount(): number;
  close(): Promise<void>;
}

/** `onEvent` decides whether the server responds, with 204 at once, or leaves the request hanging. */
export async function startEventReceiver(
  onEvent: (event: ReceivedEvent) => 'respond' | 'hang',
): Promise<EventReceiver> {
  const connections = new Set<Socket>();
  const server = createServer((request, response) => {
    connections.add(request.socket);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const atMs = performance.timeOrigin + performance.now();
      const event = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks), atMs };
      if (onEvent(event) === 'respond') response.writeHead(204).end();
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
