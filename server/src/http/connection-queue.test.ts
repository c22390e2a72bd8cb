import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { serializeRequests } from './connection-queue.ts';

let server: FastifyInstance;
/** Opened by the test; until then every request to `/held` waits. */
let gate: PromiseWithResolvers<void>;
let begun: string[];
let underWay: number;
let underWayMost: number;

beforeEach(async () => {
  [gate, begun, underWay, underWayMost] = [Promise.withResolvers(), [], 0, 0];
  server = Fastify();
  serializeRequests(server);
  server.get('/held', async () => gate.promise.then(() => 'held'));
  server.get('/other', async () => 'other');
  server.get('/last', async (_request, reply) => reply.header('connection', 'close').send('last'));
  server.get<{ Params: { name: string } }>('/:name', async ({ params: { name } }) => {
    begun.push(name);
    underWay += 1;
    underWayMost = Math.max(underWayMost, underWay);
    // A whole exchange on another connection: requests started concurrently have started by its end.
    await fetch(`http://localhost:${port()}/other`);
    underWay -= 1;
    return name;
  });
  await server.listen({ port: 0 });
});
afterEach(async () => {
  gate.resolve();
  await server.close();
});

function port(): number {
  return (server.server.address() as AddressInfo).port;
}

/** Sends all requests at once, on one connection. */
function send(paths: readonly string[]): Socket {
  const socket = connect(port(), 'localhost');
  socket.on('error', () => {});
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  return socket;
}

async function readUntil(socket: Socket, end: string): Promise<string> {
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.endsWith(end)) break;
  }
  return text;
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/number-${index}`);
}

describe('requests pipelined on one connection', () => {
  it('are handled one after another, and their responses come in order', async () => {
    const responses = await readUntil(send(many(10)), 'number-9');
    assert.equal(underWayMost, 1);
    assert.deepEqual(
      begun,
      many(10).map((path) => path.slice(1)),
    );
    assert.deepEqual(responses.match(/number-\d+/g), begun);
  });

  it('delay no request on another connection', async () => {
    const socket = send(['/held', ...many(10)]);
    const response = await fetch(`http://localhost:${port()}/number-99`);
    assert.equal(await response.text(), 'number-99');
    assert.deepEqual(begun, ['number-99']);
    socket.destroy();
  });

  it('are not started once their client has left', async () => {
    const socket = send(['/held', ...many(10)]);
    const [serverSocket] = (await once(server.server, 'connection')) as [Socket];
    const [request] = await once(server.server, 'request');
    assert.equal((request as { url: string }).url, '/held');
    socket.destroy();
    await once(serverSocket, 'close');
    gate.resolve();
    await fetch(`http://localhost:${port()}/number-99`);
    assert.deepEqual(begun, ['number-99']);
  });

  it('are not started after a response that ends the connection', async () => {
    const socket = send(['/last', ...many(3)]);
    socket.resume();
    await once(socket, 'close');
    await fetch(`http://localhost:${port()}/number-99`);
    assert.deepEqual(begun, ['number-99']);
  });

  it('end the connection when more than ten wait', async () => {
    const socket = send(['/held', ...many(11)]);
    socket.resume();
    await once(socket, 'close');
    gate.resolve();
    await fetch(`http://localhost:${port()}/number-999`);
    assert.deepEqual(begun, ['number-999']);
  });
});

describe('a kept-alive connection', () => {
  it('serves its next request after each response', async () => {
    const socket = send(['/first']);
    socket.write('GET /second HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.match(await readUntil(socket, 'second'), /first[^]*second$/);
  });
});
