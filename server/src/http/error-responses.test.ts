import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { rawHead } from '../../../test/harness/raw-request.ts';
import { AppError } from '../api/app-error.ts';
import { systemClock } from '../kit/clock.ts';
import { createServiceLog } from '../api/service-log.ts';
import { systemRandom } from '../kit/random.ts';
import { createMetrics } from './metrics.ts';
import { createServer } from './server.ts';

test('a client that disconnects while it sends is not logged as an internal error', async () => {
  const logged = Promise.withResolvers<string>();
  const server = createServer({
    clock: systemClock,
    random: systemRandom,
    log: createServiceLog({ level: 'debug', write: logged.resolve }),
    metrics: createMetrics(),
    docsUrl: () => 'http://localhost',
  });
  const isReading = Promise.withResolvers<void>();
  server.addHook('preParsing', async () => isReading.resolve());
  server.post('/', async () => 'never');
  try {
    const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${rawHead('POST', '/', ['Content-Type: application/json', 'Content-Length: 100'])}{"data"`);
    await isReading.promise;
    socket.resetAndDestroy();
    const line = JSON.parse(await logged.promise) as Record<string, unknown>;
    assert.deepEqual([line['level'], line['code'], line['msg']], ['debug', 'invalid_request', 'a request was refused']);
  } finally {
    await server.close();
  }
});

test('an intended 503 logs one warning without a stack; a bug logs an error with its stack', async () => {
  const lines: Record<string, unknown>[] = [];
  const server = createServer({
    clock: systemClock,
    random: systemRandom,
    log: createServiceLog({ level: 'debug', write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) }),
    metrics: createMetrics(),
    docsUrl: () => 'http://localhost',
  });
  const cause = new Error('the connection was lost');
  server.get('/away', async () => {
    throw new AppError('unavailable', 'Try again in a second.', { cause });
  });
  server.get('/full', async () => {
    throw new AppError('unavailable', 'Too many requests wait.', { internal: 'sixty of them' });
  });
  server.get('/mistake', async () => {
    throw new Error('a mistake');
  });
  try {
    for (const url of ['/away', '/full', '/mistake']) await server.inject({ url });
  } finally {
    await server.close();
  }
  const logged = lines
    .filter((line) => line['msg'] !== 'request')
    .map(({ level, code, internal, error, stack, ...line }) => [
      level,
      line['msg'],
      code,
      internal,
      error,
      typeof stack,
    ]);
  const away = 'Try again in a second. (because: the connection was lost)';
  assert.deepEqual(logged, [
    ['warn', 'a request was refused', 'unavailable', undefined, away, 'undefined'],
    ['warn', 'a request was refused', 'unavailable', 'sixty of them', 'Too many requests wait.', 'undefined'],
    ['error', 'a request failed', 'internal_error', undefined, 'a mistake', 'string'],
  ]);
});
