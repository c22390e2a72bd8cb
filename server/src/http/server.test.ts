import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createLog } from '../kit/log.ts';
import { systemRandom } from '../kit/random.ts';
import { createMetrics } from './metrics.ts';
import { createServer } from './server.ts';

test('a server that closes gives a connection five seconds for the head of its request, then closes it', async () => {
  const clock = new ManualClock();
  const server = createServer({
    clock,
    random: systemRandom,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    docsUrl: () => 'http://localhost',
    isClosing: () => true,
  });
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
