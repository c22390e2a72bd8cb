import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createSimulatedConnectors } from './connectors.ts';
import type { SimulatedConnector } from './connectors.ts';

export interface FaultyNetwork {
  connectors: SimulatedConnector[];
  aps: SimulatedConnector;
  clock: ManualClock;
  /** Requests as received, one string for each chunk. */
  requests: string[];
  connections: () => number;
}

/** A TCP server without HTTP, so that a test can break the exchange at any byte. */
export async function withNetwork(
  onRequest: (socket: Socket) => void,
  body: (network: FaultyNetwork) => Promise<void>,
  onConnection: (socket: Socket) => void = () => {},
): Promise<void> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data) => {
      requests.push(data.toString());
      onRequest(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clock = new ManualClock();
  const connectors = connectorsAt(`http://127.0.0.1:${port}`, clock);
  const aps = connectors.find(({ capabilities }) => capabilities.network === 'aps');
  assert.ok(aps);
  try {
    await body({ connectors, aps, clock, requests, connections: () => sockets.size });
  } finally {
    await Promise.all(connectors.map((connector) => connector.close()));
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}

/** Connectors whose networks listen at `baseUrl`. */
export function connectorsAt(baseUrl: string, clock: ManualClock, connectionsMax = 4): SimulatedConnector[] {
  return createSimulatedConnectors({
    baseUrl: () => baseUrl,
    bearerSecret: 'bearer',
    callbackSecret: 'callback',
    clock,
    connectionsMax,
  });
}

/** The bytes of an HTTP response. */
export function respondWith(status: number, body: string): string {
  return `HTTP/1.1 ${status} Word\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Failures after the request was received. After each of them its outcome is unknown. */
export const faults: [string, (socket: Socket) => void][] = [
  ['a connection that is closed without a response', (socket) => socket.end()],
  ['a connection that is reset after the request', (socket) => socket.resetAndDestroy()],
  ['a response that breaks off', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":')],
  ['a header that breaks off', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ['a response that is not HTTP', (socket) => socket.end('220 mail.example ready\r\n\r\n')],
  ['502 from a proxy', (socket) => socket.write(respondWith(502, '<html>bad gateway</html>'))],
  ['500', (socket) => socket.write(respondWith(500, '{"code":"internal_error"}'))],
  ['503 from a proxy', (socket) => socket.write(respondWith(503, '<html>down</html>'))],
  ['a page instead of JSON', (socket) => socket.write(respondWith(200, '<html>welcome</html>'))],
  ['an empty response', (socket) => socket.write(respondWith(200, ''))],
  ['JSON of another kind', (socket) => socket.write(respondWith(200, '{"status":"complete"}'))],
  ['a redirect', (socket) => socket.write('HTTP/1.1 302 F\r\nlocation: /\r\ncontent-length: 0\r\n\r\n')],
  ['more than 64 KB', (socket) => socket.write(respondWith(200, JSON.stringify('x'.repeat(65 * 1024))))],
  ['deep nesting', (socket) => socket.write(respondWith(200, '['.repeat(30_000)))],
];

/**
 * A port that nothing listens on. The system assigns no port below 1,024, so no other test uses it, and no connection can
 * connect to itself.
 */
export const closedPort = 1;
