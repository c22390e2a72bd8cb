import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { rawHead } from '../../../test/harness/raw-request.ts';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import { systemRandom } from '../kit/random.ts';
import { createMetrics } from './metrics.ts';
import { createServer } from './server.ts';

test('a client that leaves while it sends is no mistake of ours: it is not logged as one', async () => {
  const logged = Promise.withResolvers<string>();
  const server = createServer({
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: 'debug', write: logged.resolve }),
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
