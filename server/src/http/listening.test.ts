import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { assertPortFree } from '../process/listen-address.ts';
import { listen, stopListeningOnClose } from './listening.ts';

const host = '127.0.0.1';
const clientCount = 64;
// Elsewhere a server has one socket.
const ticksMax = process.platform === 'linux' ? clientCount / 2 : clientCount;

let server: FastifyInstance;
let gate: PromiseWithResolvers<void>;
let clients: Socket[];

beforeEach(async () => {
  gate = Promise.withResolvers();
  clients = [];
  server = Fastify({ forceCloseConnections: 'idle' });
  stopListeningOnClose(server);
  server.get('/held', async () => gate.promise.then(() => 'held'));
  await listen(server, { port: 0, host });
});
afterEach(async () => {
  gate.resolve();
  for (const client of clients) client.destroy();
  await server.close();
});

const port = (): number => (server.server.address() as AddressInfo).port;

/** Connects all clients in one tick of the event loop, and resolves when the server has accepted them. */
async function connectAll(onAccepted: () => void = () => {}): Promise<void> {
  const accepted = Promise.withResolvers<void>();
  let left = clientCount;
  server.server.on('connection', () => {
    onAccepted();
    left -= 1;
    if (left === 0) accepted.resolve();
  });
  clients = Array.from({ length: clientCount }, () => connect(port(), host));
  await accepted.promise;
}

describe('a server that listens', () => {
  it('accepts several connections in a tick of its event loop', async () => {
    let ticks = 0;
    const countTicks = (): void => {
      ticks += 1;
      ticking = setImmediate(countTicks);
    };
    let ticking = setImmediate(countTicks);
    const ticksOfConnections = new Set<number>();
    await connectAll(() => ticksOfConnections.add(ticks));
    clearImmediate(ticking);
    assert.ok(ticksOfConnections.size <= ticksMax, `${clientCount} were accepted in ${ticksOfConnections.size} ticks`);
  });

  it('answers the requests under way on all its sockets before it has closed', async () => {
    await connectAll();
    const requests = new Promise<void>((resolve) => {
      let begun = 0;
      server.server.on('request', () => {
        begun += 1;
        if (begun === clientCount) resolve();
      });
    });
    const responses = clients.map(async (client) => {
      client.write('GET /held HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      const chunks: Buffer[] = [];
      client.on('data', (chunk) => chunks.push(chunk));
      await once(client, 'end');
      return Buffer.concat(chunks).toString('utf8');
    });
    await requests;
    let responded = 0;
    const all = responses.map((response) => response.then((text) => (responded += Number(text.endsWith('held')))));
    const listenedOn = port();
    const closing = server.close();
    gate.resolve();
    await closing;
    await Promise.all(all);
    assert.equal(responded, clientCount);
    await assert.rejects(once(connect(listenedOn, host), 'connect'), /ECONNREFUSED/);
  });

  it('leaves its port when only its own socket is closed', async () => {
    const listenedOn = port();
    server.server.close();
    await once(server.server, 'close');
    await assertPortFree({ port: listenedOn, host });
  });

  it('has its port alone: another service is refused it', async () => {
    await assert.rejects(assertPortFree({ port: port(), host }), /Port \d+ is in use/);
  });
});
