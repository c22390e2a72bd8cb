import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { eventually } from '../../../../test/harness/eventually.ts';
import { createServiceLog } from '../../api/service-log.ts';
import { systemClock } from '../../kit/clock.ts';
import type { Visit } from '../visit.ts';
import { EventStreams } from './event-streams.ts';

// Of five logins.
const pages = 40;

test('many open pages read two at a time, a stream too many is refused, and all end with the service', async (context) => {
  const changes = { notify: () => {}, subscribe: () => () => {}, subscribeKind: () => () => {} };
  const log = createServiceLog({ level: 'error' });
  const streams = new EventStreams({ changes, clock: systemClock, log });
  const reads = { now: 0, most: 0 };
  const gate = Promise.withResolvers<void>();
  let requests = 0;
  const read = async () => {
    reads.now += 1;
    reads.most = Math.max(reads.most, reads.now);
    await gate.promise;
    reads.now -= 1;
    return [];
  };
  const app = Fastify();
  app.get<{ Params: { account: string } }>('/:account', (request, reply) => {
    requests += 1;
    const visit = { account: { id: request.params.account }, base: '' } as Visit;
    return streams.send(request, reply, {
      ...{ feed: { page: '/', topics: [], read }, visit, revisit: () => Promise.resolve(visit) },
    });
  });
  context.after(() => {
    gate.resolve();
    streams.endAll();
    return app.close();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const open = (account: number) => fetch(`${url}/${account}`, { headers: { accept: 'text/event-stream' } });
  const opening = Promise.all(Array.from({ length: pages }, (_none, index) => open(index % 5)));
  await eventually('all pages have asked', async () => requests === pages && reads.now > 0);
  gate.resolve();
  const opened = await opening;
  const readers = opened.map(({ body }) => {
    assert.ok(body);
    return body.getReader();
  });
  const firsts = await Promise.all(readers.map((reader) => reader.read()));
  for (const first of firsts) assert.match(Buffer.from(first.value ?? []).toString(), /^event: beat\n/);
  assert.equal(reads.most, 2);
  assert.equal((await open(0)).status, 429);
  streams.endAll();
  assert.ok((await Promise.all(readers.map((reader) => reader.read()))).every((end) => end.done));
});
