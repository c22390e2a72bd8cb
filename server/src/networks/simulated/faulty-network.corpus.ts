import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createSimulatedConnectors } from './connectors.ts';
import type { SimulatedConnector } from './connectors.ts';

export interface FaultyNetwork {
  connectors: SimulatedConnector[];
  wave: SimulatedConnector;
  clock: ManualClock;
  /** Requests as they arrived, one text a connection. */
  requests: string[];
  connections: () => number;
}

/** A server that speaks bytes and not HTTP, so that it can go wrong at any place. */
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
  const [wave] = connectors;
  assert.ok(wave);
  try {
    await body({ connectors, wave, clock, requests, connections: () => sockets.size });
  } finally {
    await Promise.all(connectors.map((connector) => connector.close()));
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}

/** Connectors that find their network at an address. */
export function connectorsAt(baseUrl: string, clock: ManualClock, connectionsMax = 4): SimulatedConnector[] {
  return createSimulatedConnectors({
    baseUrl: () => baseUrl,
    bearerSecret: 'bearer',
    callbackSecret: 'callback',
    clock,
    connectionsMax,
  });
}

/** An HTTP answer as bytes. */
export function respondWith(status: number, body: string): string {
  return `HTTP/1.1 ${status} Word\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** What goes wrong once the request has arrived. None of it says what became of the order. */
export const faults: [string, (socket: Socket) => void][] = [
  ['a connection that is closed without an answer', (socket) => socket.end()],
  ['a connection that is reset after the request', (socket) => socket.resetAndDestroy()],
  ['an answer that breaks off', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":')],
  ['a header that breaks off', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ['something that is not HTTP', (socket) => socket.end('220 mail.example ready\r\n\r\n')],
  ['502 of a proxy', (socket) => socket.write(respondWith(502, '<html>bad gateway</html>'))],
  ['500', (socket) => socket.write(respondWith(500, '{"code":"internal_error"}'))],
  ['503 of a proxy', (socket) => socket.write(respondWith(503, '<html>down</html>'))],
  ['a page instead of JSON', (socket) => socket.write(respondWith(200, '<html>welcome</html>'))],
  ['an empty answer', (socket) => socket.write(respondWith(200, ''))],
  ['JSON of another kind', (socket) => socket.write(respondWith(200, '{"status":"complete"}'))],
  ['a redirect', (socket) => socket.write('HTTP/1.1 302 F\r\nlocation: /\r\ncontent-length: 0\r\n\r\n')],
  ['more than 64 KB', (socket) => socket.write(respondWith(200, JSON.stringify('x'.repeat(65 * 1024))))],
  ['deep nesting', (socket) => socket.write(respondWith(200, '['.repeat(30_000)))],
];

/**
 * A port where nobody listens. The system gives out none below 1,024, so no other test is there, and no connection that
 * begins there can meet itself.
 */
export const closedPort = 1;
