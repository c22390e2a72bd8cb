import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createServiceLog } from '../api/service-log.ts';
import { systemRandom } from '../kit/random.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { createMetrics } from './metrics.ts';
import { refuseOverload } from './refuse-overload.ts';
import { createServer, type ServerOptions } from './server.ts';

function createTestServer(options: Partial<ServerOptions>): FastifyInstance {
  return createServer({
    clock: new ManualClock(),
    random: systemRandom,
    log: createServiceLog({ level: 'silent' }),
    metrics: createMetrics(),
    docsUrl: () => 'http://localhost',
    ...options,
  });
}

test('an incomplete head gets 408 and is closed soon after its limit', { timeout: 20_000 }, async () => {
  const server = createTestServer({ connectionLimits: { headersTimeoutMs: 100 } });
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /late HTTP/1.1\r\nHost: local');
  assert.match(await text(socket), /^HTTP\/1\.1 408 /);
  await server.close();
});

test(
  'a connection whose client does not read its response is closed, and others are not',
  { timeout: 20_000 },
  async () => {
    const server = createTestServer({ connectionLimits: { stalledTimeoutMs: 500 } });
    // More than the kernel buffers for a client.
    const response = Buffer.alloc(64 * 1024 * 1024, 'x');
    server.get('/large', async () => response);
    server.get('/small', async () => 'small');
    const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
    const send = async (path: string): Promise<{ client: Socket; accepted: Socket }> => {
      const connected = once(server.server, 'connection');
      const client = connect(Number(port), '127.0.0.1');
      client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      const [accepted] = (await connected) as [Socket];
      return { client, accepted };
    };
    const [reading, stalled] = [await send('/small'), await send('/large')];
    await once(reading.client, 'data');
    stalled.client.on('error', () => {});
    await once(stalled.accepted, 'close');
    assert.ok(stalled.client.bytesRead < response.length);
    reading.client.write('GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.match(String((await once(reading.client, 'data'))[0]), /small$/);
    reading.client.destroy();
    stalled.client.destroy();
    await server.close();
  },
);

test('connections that wait to be accepted when the server closes are served', async () => {
  const server = createTestServer({});
  server.get('/waiting', async () => 'served');
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const clients = Array.from({ length: 20 }, () => connect(Number(port), '127.0.0.1'));
  for (const client of clients) client.write('GET /waiting HTTP/1.1\r\nHost: localhost\r\n\r\n');
  // The kernel connects them before the server stops listening; the event loop has accepted none.
  const closed = server.close();
  for (const client of clients) assert.match(await text(client), /\r\nserved$/);
  await closed;
});

test('a server that closes gives a connection five seconds for the head of its request, then closes it', async () => {
  const clock = new ManualClock();
  const server = createTestServer({ clock, isClosing: () => true });
  server.get('/late', async () => 'answered');
  const slow = Promise.withResolvers<string>();
  server.get('/slow', () => slow.promise);
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const open = async (): Promise<Socket> => {
    const accepted = once(server.server, 'connection');
    const socket = connect(Number(port), '127.0.0.1');
    await accepted;
    return socket;
  };
  const [used, unused, half, second, serving] = [await open(), await open(), await open(), await open(), await open()];
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  half.write(head('/late'));
  second.write(`${head('/late')}\r\n${head('/late')}`);
  await once(second, 'data');
  const begun = once(server.server, 'request');
  serving.write(`${head('/slow')}\r\n`);
  await begun;
  const closed = server.close();
  await eventually('the server waits for them', () => clock.sleeping === 1);
  await clock.advance(4_999);
  assert.equal(unused.closed, false);
  assert.equal(half.closed, false);
  used.write(`${head('/late')}\r\n`);
  assert.match(await text(used), /\r\nconnection: close\r\n[\s\S]*\r\nanswered$/i);
  await clock.advance(1);
  assert.equal(await text(unused), '');
  assert.equal(await text(half), '');
  await text(second);
  slow.resolve('served');
  assert.match(await text(serving), /\r\nserved$/);
  await closed;
});

test('a server that closes gives a body that does not arrive and a response nobody reads five seconds', async () => {
  const clock = new ManualClock();
  const server = createTestServer({ clock, isClosing: () => true });
  server.post('/late', async () => 'answered');
  // More than the kernel buffers for a client.
  server.get('/large', async () => Buffer.alloc(64 * 1024 * 1024, 'x'));
  let begun = 0;
  server.server.on('request', () => (begun += 1));
  let sent = 0;
  server.addHook('onSend', async () => {
    sent += 1;
  });
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const clients = [
    'POST /late HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhalf',
    'GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ].map((request) => {
    const client = connect(Number(port), '127.0.0.1');
    client.on('error', () => {});
    client.write(request);
    return client;
  });
  await eventually('both have begun, and the response is being sent', () => begun === 2 && sent === 1);
  const closed = server.close();
  await eventually('the server waits for them', () => clock.sleeping === 1);
  await clock.advance(5_000);
  await closed;
  for (const client of clients) client.destroy();
});

test('a server that closes ends a streamed file that nobody reads, and goes on with one that is read', async () => {
  const clock = new ManualClock();
  // The usual limit of clients that do not read must not be what closes it.
  const server = createTestServer({ clock, isClosing: () => true, connectionLimits: { stalledTimeoutMs: 600_000 } });
  let isLast = false;
  let parts = 0;
  const part = Buffer.alloc(1024 * 1024, 'x');
  server.get('/file', async (_request, reply) => reply.send(Readable.from(endless())));
  async function* endless(): AsyncGenerator<Buffer> {
    for (; !isLast; parts += 1) yield part;
  }
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const open = (): Socket => {
    const client = connect(Number(port), '127.0.0.1');
    client.on('error', () => {});
    client.write('GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return client;
  };
  const [reading, unread] = [open(), open()];
  const accepted: Socket[] = [];
  server.server.on('request', ({ socket }: { socket: Socket }) => accepted.push(socket));
  await eventually('both files have begun', () => accepted.length === 2 && parts >= 2);
  const closed = server.close();
  await eventually('the server waits for them', () => clock.sleeping === 1);
  reading.resume();
  // It may have filled the kernel's buffers only now.
  await eventually('the unread one is closed', async () => {
    const before = reading.bytesRead;
    await eventually('the other one is read', () => reading.bytesRead > before + 16 * part.length);
    await clock.advance(5_000);
    return accepted.some(({ remotePort, destroyed }) => destroyed && remotePort !== reading.localPort);
  });
  isLast = true;
  assert.ok((await text(reading)).endsWith('\r\n0\r\n\r\n'));
  unread.destroy();
  await closed;
});

test('a request beyond those that may be under way is refused at once, and nothing is done for it', async () => {
  const server = createTestServer({});
  const { promise: mayRespond, resolve: respondToAll } = Promise.withResolvers<void>();
  let handled = 0;
  server.get('/other', async () => 'served');
  const { all: limiter } = await new Promise<ReturnType<typeof refuseOverload>>((resolve) => {
    server.register(async (api) => {
      resolve(refuseOverload(api, { underWay: 2 }));
      api.get('/slow', async () => {
        handled += 1;
        await mayRespond;
        return 'served';
      });
    });
    server.ready();
  });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const leaving = new AbortController();
  const first = fetch(`${url}/slow`);
  const second = fetch(`${url}/slow`, { signal: leaving.signal });
  await eventually('both are under way', () => handled === 2);
  const refused = await fetch(`${url}/slow`);
  const { code } = (await refused.json()) as { code: string };
  assert.deepEqual([refused.status, code, refused.headers.get('retry-after')], [503, 'unavailable', '1']);
  assert.equal((await fetch(`${url}/other`)).status, 200);
  // A client that leaves makes room.
  leaving.abort();
  await assert.rejects(second);
  await eventually('there is room', () => limiter.inUse === 1);
  const third = fetch(`${url}/slow`);
  respondToAll();
  assert.deepEqual([(await first).status, (await third).status, handled], [200, 200, 3]);
  await server.close();
});

test('a request whose client has left while an earlier hook waited occupies no permit', async () => {
  const server = createTestServer({});
  const { promise: mayProceed, resolve: proceedAll } = Promise.withResolvers<void>();
  let waiting = 0;
  server.addHook('onRequest', async () => {
    waiting += 1;
    await mayProceed;
  });
  server.register(async (api) => {
    refuseOverload(api, { underWay: 1 });
    api.get('/work', async () => 'served');
  });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const accepted = once(server.server, 'connection') as Promise<[Socket]>;
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.write('GET /work HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [socket] = await accepted;
  await eventually('it waits', () => waiting === 1);
  client.destroy();
  await once(socket, 'close');
  proceedAll();
  assert.equal((await fetch(`${url}/work`)).status, 200);
  await server.close();
});

test('a merchant’s requests whose bodies do not arrive leave room for another merchant’s', async () => {
  const server = createTestServer({});
  server.register(async (api) => {
    api.addHook('onRequest', async (request) => {
      request.merchant = { id: String(request.headers['x-merchant']) } as Merchant;
    });
    refuseOverload(api, { underWay: 4, ofMerchant: 2 });
    api.post('/work', async () => 'served');
  });
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  const statusOf = async (merchant: string): Promise<number> =>
    (await fetch(`${url}/work`, { method: 'POST', headers: { 'x-merchant': merchant }, body: 'whole' })).status;
  const slow = Array.from({ length: 6 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  const head =
    'POST /work HTTP/1.1\r\nHost: localhost\r\nX-Merchant: slow\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n';
  for (const client of slow) client.write(`${head}\r\na`);
  await eventually('no more of it are accepted', async () => (await statusOf('slow')) === 503);
  assert.equal(await statusOf('other'), 200);
  for (const client of slow) client.destroy();
  await eventually('its requests are accepted again', async () => (await statusOf('slow')) === 200);
  await server.close();
});

test('a request that arrived whole gets its response before what follows on its connection is refused', async () => {
  const server = createTestServer({});
  const { promise: mayRespond, resolve: respond } = Promise.withResolvers<void>();
  let underWay = 0;
  server.post('/work', async (_request, reply) => {
    underWay += 1;
    await mayRespond;
    return reply.code(201).send('done');
  });
  const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
  const send = (headers: string, rest: string): Socket => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /work HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n${headers}\r\n\r\n${rest}`);
    return socket;
  };
  // More bytes than announced, a second request that is too large, and more bytes where the connection is to end.
  const followed = [
    send('Content-Length: 3', 'abc\0x'),
    send('Content-Length: 3', `abcGET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    send('Content-Length: 3\r\nConnection: close', 'abc}'),
  ].map((socket) => text(socket));
  await eventually('they are under way', () => underWay === followed.length);
  // A body that is malformed has no other response.
  assert.match(await text(send('Transfer-Encoding: chunked', '3\r\nabcde')), /^HTTP\/1\.1 400 /);
  respond();
  const [surplus, second, last] = await Promise.all(followed);
  assert.match(surplus ?? '', /^HTTP\/1\.1 201 [\s\S]*\r\n\r\ndoneHTTP\/1\.1 400 /);
  assert.match(second ?? '', /^HTTP\/1\.1 201 [\s\S]*\r\n\r\ndoneHTTP\/1\.1 431 /);
  assert.match(last ?? '', /^HTTP\/1\.1 201 [\s\S]*\r\n\r\ndone$/);
  await server.close();
});
