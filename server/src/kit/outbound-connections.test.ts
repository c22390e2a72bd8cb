import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { queryObjects } from 'node:v8';
import { Pool } from 'undici';
import { eventually } from '../../../test/harness/eventually.ts';
import { createOutboundWorld } from './outbound-world.corpus.ts';

const { client, tcpServer, close } = createOutboundWorld();
after(close);

/** A server that counts its connections and keeps them for as long as the other side does. */
async function receiver() {
  let open = 0;
  const { address, sockets } = await tcpServer((socket) => {
    open += 1;
    socket.on('close', () => (open -= 1));
    // Each request of ours is one packet.
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  });
  return { url: `http://${address}/`, made: () => sockets.length, open: () => open };
}

test('requests to one receiver reuse its connections', async () => {
  const { url, made } = await receiver();
  const { post } = client();
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 8 }, () => post(url)));
    // A connection is free once the end of the answer has been worked off.
    await new Promise(setImmediate);
  }
  assert.ok(made() <= 8, `${made()} connections for eight requests at once`);
});

test('the number of idle connections is bounded, however many receivers there are', async () => {
  const receivers = await Promise.all(Array.from({ length: 10 }, () => receiver()));
  const { post } = client({ idleConnectionsMax: 4 });
  for (const { url } of receivers) assert.equal((await post(url)).kind, 'answered');
  const open = (): number => receivers.reduce((sum, one) => sum + one.open(), 0);
  await eventually('the others are closed', () => open() === 4);
});

test('nothing of a receiver stays in memory after its connections end, also of one that hung', async () => {
  const silent = await tcpServer(() => {});
  const endless = await tcpServer((socket) =>
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n${' '.repeat(70_000)}`)),
  );
  const resolveName = () => Promise.resolve(['127.0.0.1']);
  const poolCount = (): number => queryObjects(Pool, { format: 'count' });
  const before = poolCount();
  const { post } = client({ resolveName, totalTimeoutMs: 200 });
  // As somebody can have as many names as they like.
  const urls = Array.from({ length: 20 }, (_, index) => [
    `http://silent-${index}.example:${silent.port}/`,
    `http://endless-${index}.example:${endless.port}/`,
  ]);
  const results = await Promise.all(urls.flat().map((url) => post(url)));
  assert.ok(results.some(({ kind }) => kind === 'failed'));
  await eventually('they are forgotten', () => poolCount() <= before);
});
