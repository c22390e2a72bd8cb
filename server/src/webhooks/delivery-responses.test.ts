import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import { getEndpoint } from './manage-endpoints.ts';
import { answering, createDeliveryWorld } from './webhook-world.corpus.ts';
import type { DeliveryWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;
const limitMs = 15_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

describe('the response to a delivery', () => {
  it('is a success with 2xx only', async () => {
    const successes = [200, 201, 202, 204, 299];
    const others = [300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 599];
    for (const status of [...successes, ...others]) {
      const elsewhere = world.receiver.url(`/redirected/${status}`);
      const endpoint = await world.endpointAt(answering(status, { location: elsewhere }));
      const eventId = await world.dispatch();
      await world.deliver();
      const row = await world.deliveryOf(eventId, endpoint.id);
      assert.equal(row.status, successes.includes(status) ? 'delivered' : 'pending', String(status));
      assert.deepEqual(world.receiver.to(`/redirected/${status}`), []);
      await world.retire(endpoint.id);
    }
  });

  it('may request a later attempt with Retry-After, up to a day', async () => {
    const now = world.clock.now();
    const inAnHour = new Date(Math.ceil(now.getTime() / 1_000) * 1_000 + hourMs);
    const cases: [number, string, number][] = [
      [429, '120', 120_000],
      [503, '7200', 7_200_000],
      [503, inAnHour.toUTCString(), inAnHour.getTime() - now.getTime()],
      [400, '60', 60_000],
      [503, '999999', 24 * hourMs],
    ];
    for (const [status, retryAfter, waitMs] of cases) {
      const endpoint = await world.endpointAt(answering(status, { 'retry-after': retryAfter }));
      const eventId = await world.dispatch();
      await world.deliver();
      const { nextAttemptAt } = await world.deliveryOf(eventId, endpoint.id);
      assert.deepEqual(nextAttemptAt, addMs(now, waitMs), retryAfter);
      await world.retire(endpoint.id);
    }
  });

  it('is logged if it is a failure, once a minute per endpoint, without the URL', async () => {
    const endpoint = await world.endpointAt(answering(503));
    const lines = () => world.logged.map((line) => JSON.parse(line)).filter((line) => line.endpoint_id === endpoint.id);
    for (let count = 0; count < 3; count += 1) await world.dispatch();
    await world.deliver();
    const [first, ...more] = lines();
    assert.deepEqual([first.level, first.status, first.attempts, first.count], ['warn', 503, '1', 1]);
    assert.deepEqual(more, []);
    assert.doesNotMatch(world.logged.join(), /\/hook\//, 'addresses may hold secrets');
    await world.clock.advance(60_000);
    await world.dispatch();
    await world.deliver();
    const [, second, ...none] = lines();
    assert.ok(second.count >= 3, 'it stands for those without a line of their own');
    assert.deepEqual(none, []);
  });

  it('fails unless its last byte arrives within fifteen seconds', async () => {
    const hangs: [string, (response: ServerResponse) => void][] = [
      ['before the headers', () => {}],
      ['before the body', (response) => response.writeHead(200).flushHeaders()],
      ['within the body', (response) => response.writeHead(200).write('some')],
    ];
    for (const [where, hang] of hangs) {
      const endpoint = await world.endpointAt(hang);
      const eventId = await world.dispatch();
      const delivered = world.deliver();
      await eventually('the request arrived', () => endpoint.received().length === 1);
      await world.clock.advance(limitMs - 1);
      assert.deepEqual(await world.attemptsOf(eventId), []);
      await world.clock.advance(1);
      await delivered;
      const [attempt] = await world.attemptsOf(eventId);
      assert.deepEqual([attempt?.failure, attempt?.statusCode], ['timeout', null], where);
      assert.equal((await world.deliveryOf(eventId)).status, 'pending');
      await world.retire(endpoint.id);
    }
  });

  it('may be endless or reset', async () => {
    const endless = await world.endpointAt((response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024, 'x')));
        response.once('drain', write);
      };
      write();
    });
    const endlessEvent = await world.dispatch();
    await world.deliver();
    assert.equal((await world.deliveryOf(endlessEvent)).status, 'delivered');
    assert.equal((await world.attemptsOf(endlessEvent))[0]?.response, 'x'.repeat(1_024));
    await world.retire(endless.id);

    await world.endpointAt((response) => response.socket?.resetAndDestroy());
    const reset = await world.dispatch();
    await world.deliver();
    assert.equal((await world.deliveryOf(reset)).status, 'pending');
    assert.equal((await world.attemptsOf(reset))[0]?.failure, 'reset');
  });

  it('410 disables the endpoint and keeps its pending deliveries', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const other = await world.endpointAt();
    const earlier = await world.dispatch();
    await world.deliver();
    world.receiver.respondWith(endpoint.path, 410);
    const gone = await world.dispatch();
    await world.deliver();
    const after410 = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual([after410.status, after410.disabledReason], ['disabled', 'gone']);
    assert.equal((await world.deliveryOf(gone, endpoint.id)).status, 'failed');
    assert.equal((await world.deliveryOf(earlier, endpoint.id)).status, 'kept');
    const later = await world.dispatch();
    await world.clock.advance(hourMs);
    await world.deliver();
    assert.equal((await world.deliveryOf(later, endpoint.id)).status, 'kept');
    assert.equal(endpoint.received().length, 2);
    assert.equal(other.received().length, 3);
    assert.ok(world.logged.some((line) => line.includes('410') && line.includes(endpoint.id)));
    const on = await world.changeEndpoint(endpoint.id, { status: 'enabled' });
    assert.deepEqual([on.status, on.disabledReason], ['enabled', null]);
  });

  it('410 from a URL that the merchant has replaced meanwhile disables nothing', async () => {
    let open: ServerResponse | undefined;
    const endpoint = await world.endpointAt((response) => {
      open = response;
    });
    await world.dispatch();
    const delivered = world.deliver();
    await eventually('the request arrived', () => open !== undefined);
    await world.changeEndpoint(endpoint.id, { url: world.receiver.url('/replaced') });
    open?.writeHead(410).end();
    await delivered;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
  });
});

describe('an endpoint that is disabled while a request is under way', () => {
  for (const [status, expected] of [
    [200, 'delivered'],
    [500, 'kept'],
  ] as const) {
    it(`and returns ${status}: the delivery is ${expected}`, async () => {
      let open: ServerResponse | undefined;
      const endpoint = await world.endpointAt((response) => {
        open = response;
      });
      const eventId = await world.dispatch();
      const delivered = world.deliver();
      await eventually('the request arrived', () => open !== undefined);
      await world.changeEndpoint(endpoint.id, { status: 'disabled' });
      open?.writeHead(status).end();
      await delivered;
      assert.equal((await world.deliveryOf(eventId)).status, expected);
      assert.deepEqual(await world.worker.listDueKeys(), []);
    });
  }
});
