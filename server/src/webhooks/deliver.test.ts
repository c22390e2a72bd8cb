import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import { createSealer } from '../kit/seal.ts';
import { getEndpoint } from './manage-endpoints.ts';
import { retryDelaysMs } from './retry-schedule.ts';
import { rotateSecret } from './rotate-secret.ts';
import { answering, createDeliveryWorker, createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;
const limitMs = 15_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

describe('a delivery', () => {
  it('sends the signed event to the endpoint', async () => {
    const endpoint = await world.endpointAt(answering(204));
    const eventId = await world.append({ sequence: 3n, record: { id: 'c1', amount: 10.5, name: 'Ŋ 🙂' } });
    await world.deliver();
    const [request] = endpoint.received();
    assert.ok(request);
    const record = { id: 'c1', amount: 10.5, name: 'Ŋ 🙂' };
    assert.deepEqual(JSON.parse(request.body.toString()), {
      id: eventId,
      event: 'charge.succeeded',
      created_at: world.clock.now().toISOString(),
      test_mode: true,
      sequence: 3,
      request_id: null,
      data: record,
      payload: record,
    });
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['user-agent'], 'Dalasi webhooks');
    assert.equal(request.headers['webhook-id'], eventId);
    assert.equal(request.headers['webhook-timestamp'], String(world.clock.now().getTime() / 1_000));
    const expected = createHmac('sha512', endpoint.secret).update(request.body).digest('hex');
    assert.equal(request.headers['x-service-signature'], expected);
    const { status, attempts, nextAttemptAt, deliveredAt } = await world.deliveryOf(eventId);
    assert.deepEqual({ status, attempts, nextAttemptAt }, { status: 'delivered', attempts: 1n, nextAttemptAt: null });
    assert.deepEqual(deliveredAt, world.clock.now());
  });

  it('is tried ten times over 75 hours and 35 minutes, with the same id and bytes, and then fails', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const eventId = await world.append();
    await world.deliver();
    for (const delayMs of retryDelaysMs) {
      const { nextAttemptAt } = await world.deliveryOf(eventId);
      assert.ok(nextAttemptAt);
      const waitMs = nextAttemptAt.getTime() - world.clock.now().getTime();
      assert.ok(waitMs >= delayMs * 0.85 && waitMs <= delayMs * 1.15, `${waitMs} for ${delayMs}`);
      await world.clock.advance(waitMs - 1);
      assert.deepEqual(await world.worker.listDueKeys(), []);
      await world.deliver();
      await world.clock.advance(1);
      assert.deepEqual(await world.worker.listDueKeys(), [`${world.caller.merchantId}/${endpoint.id}`]);
      await world.deliver();
    }
    const requests = endpoint.received();
    assert.equal(requests.length, 10);
    assert.equal(new Set(requests.map((request) => request.body.toString('hex'))).size, 1);
    assert.deepEqual([...new Set(requests.map((request) => request.headers['webhook-id']))], [eventId]);
    assert.equal(new Set(requests.map((request) => request.headers['webhook-timestamp'])).size, 10);
    const { status, attempts, nextAttemptAt } = await world.deliveryOf(eventId);
    assert.deepEqual({ status, attempts, nextAttemptAt }, { status: 'failed', attempts: 10n, nextAttemptAt: null });
    const recorded = await world.attemptsOf(eventId);
    assert.deepEqual(
      recorded.map((attempt) => [attempt.attempt, attempt.statusCode, attempt.response]),
      Array.from({ length: 10 }, (_, index) => [BigInt(index + 1), 500n, 'status 500']),
    );
  });
});

describe('a delivery that cannot be signed', () => {
  it('waits for a minute and costs no attempt, and its endpoint is logged once a minute', async () => {
    const endpoint = await world.endpointAt();
    const { merchantId } = world.caller;
    const worker = createDeliveryWorker({ ...world.context, sealer: createSealer('33'.repeat(32)) });
    const counts = () =>
      world.logged
        .map((line) => JSON.parse(line))
        .filter((line) => line.level === 'error' && line.endpoint_id === endpoint.id)
        .map(({ count }) => count);
    const eventIds = [await world.append(), await world.append(), await world.append()];
    await worker.deliver(merchantId);
    for (const eventId of eventIds) {
      const { status, attempts, nextAttemptAt } = await world.deliveryOf(eventId);
      assert.deepEqual([status, attempts, nextAttemptAt], ['pending', 0n, addMs(world.clock.now(), 60_000)]);
    }
    assert.deepEqual(counts(), [1]);
    await world.clock.advance(60_000);
    await worker.deliver(merchantId);
    assert.deepEqual(counts(), [1, 3]);
    assert.deepEqual(endpoint.received(), []);
    await worker.stop();
  });
});

describe('a callback URL', () => {
  it('receives the event signed with the default endpoint’s secret, and its 410 ends only this delivery', async () => {
    world.receiver.respondWith('/order', 410);
    const eventId = await world.append({ callbackUrl: world.receiver.url('/order') });
    await world.deliver();
    const [request] = world.receiver.to('/order');
    assert.ok(request);
    const expected = createHmac('sha512', world.defaultEndpoint.secret).update(request.body).digest('hex');
    assert.equal(request.headers['x-service-signature'], expected);
    assert.equal((await world.deliveryOf(eventId)).status, 'failed');
    const { id } = world.defaultEndpoint.endpoint;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, id)).status, 'enabled');
  });

  it('is checked against the URL policy when it is called, however it was stored', async () => {
    for (const callbackUrl of ['http://169.254.169.254/', 'shop://done', 'http://[::ffff:a9fe:a9fe]:3000/']) {
      const eventId = await world.append({ callbackUrl });
      await world.deliver();
      assert.equal((await world.attemptsOf(eventId))[0]?.failure, 'blocked', callbackUrl);
      assert.equal((await world.deliveryOf(eventId)).status, 'pending');
    }
  });
});

describe('rotating a secret', () => {
  it('verifies with either secret during the overlap and with the new one alone afterwards', async () => {
    const endpoint = await world.endpointAt();
    const rotated = await world.change((tx) =>
      rotateSecret(tx, world.context, world.caller, { id: endpoint.id, overlapHours: 24 }),
    );
    const signedBy = async (): Promise<{ service: string[]; standard: string[] }> => {
      await world.append();
      await world.deliver();
      const request = endpoint.received().at(-1);
      assert.ok(request);
      const { headers, body } = request;
      const content = [headers['webhook-id'], headers['webhook-timestamp'], body.toString()].join('.');
      const signed = String(headers['webhook-signature']).split(' ');
      const names = Object.entries({ old: endpoint.secret, newer: rotated.secret });
      const standard = names.filter(([, secret]) => {
        const key = Buffer.from(secret.slice(3), 'base64');
        return signed.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
      });
      const service = names.filter(([, secret]) => {
        return headers['x-service-signature'] === createHmac('sha512', secret).update(body).digest('hex');
      });
      assert.equal(signed.length, standard.length);
      return { service: service.map(([name]) => name), standard: standard.map(([name]) => name) };
    };
    assert.deepEqual(await signedBy(), { service: ['old'], standard: ['old', 'newer'] });
    await world.clock.advance(24 * hourMs - 1);
    assert.deepEqual(await signedBy(), { service: ['old'], standard: ['old', 'newer'] });
    await world.clock.advance(1);
    assert.deepEqual(await signedBy(), { service: ['newer'], standard: ['newer'] });
  });
});

describe('the response to a delivery', () => {
  it('is a success with 2xx only', async () => {
    const successes = [200, 201, 202, 204, 299];
    const others = [300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 599];
    for (const status of [...successes, ...others]) {
      const elsewhere = world.receiver.url(`/redirected/${status}`);
      const endpoint = await world.endpointAt(answering(status, { location: elsewhere }));
      const eventId = await world.append();
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
      const eventId = await world.append();
      await world.deliver();
      const { nextAttemptAt } = await world.deliveryOf(eventId, endpoint.id);
      assert.deepEqual(nextAttemptAt, addMs(now, waitMs), retryAfter);
      await world.retire(endpoint.id);
    }
  });

  it('is logged if it is a failure, once a minute per endpoint, without the URL', async () => {
    const endpoint = await world.endpointAt(answering(503));
    const lines = () => world.logged.map((line) => JSON.parse(line)).filter((line) => line.endpoint_id === endpoint.id);
    for (let count = 0; count < 3; count += 1) await world.append();
    await world.deliver();
    const [first, ...more] = lines();
    assert.deepEqual([first.level, first.status, first.attempts, first.count], ['warn', 503, '1', 1]);
    assert.deepEqual(more, []);
    assert.doesNotMatch(world.logged.join(), /\/hook\//, 'addresses may hold secrets');
    await world.clock.advance(60_000);
    await world.append();
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
      const eventId = await world.append();
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
    const endlessEvent = await world.append();
    await world.deliver();
    assert.equal((await world.deliveryOf(endlessEvent)).status, 'delivered');
    assert.equal((await world.attemptsOf(endlessEvent))[0]?.response, 'x'.repeat(1_024));
    await world.retire(endless.id);

    await world.endpointAt((response) => response.socket?.resetAndDestroy());
    const reset = await world.append();
    await world.deliver();
    assert.equal((await world.deliveryOf(reset)).status, 'pending');
    assert.equal((await world.attemptsOf(reset))[0]?.failure, 'reset');
  });

  it('410 disables the endpoint and keeps its pending deliveries', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const other = await world.endpointAt();
    const earlier = await world.append();
    await world.deliver();
    world.receiver.respondWith(endpoint.path, 410);
    const gone = await world.append();
    await world.deliver();
    const after410 = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual([after410.status, after410.disabledReason], ['disabled', 'gone']);
    assert.equal((await world.deliveryOf(gone, endpoint.id)).status, 'failed');
    assert.equal((await world.deliveryOf(earlier, endpoint.id)).status, 'kept');
    const later = await world.append();
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
    await world.append();
    const delivered = world.deliver();
    await eventually('the request arrived', () => open !== undefined);
    await world.changeEndpoint(endpoint.id, { url: world.receiver.url('/replaced') });
    open?.writeHead(410).end();
    await delivered;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
  });

  it('410 to what was sent before the merchant switched the endpoint off and on again disables nothing', async () => {
    let open: ServerResponse | undefined;
    const endpoint = await world.endpointAt((response) => {
      open = response;
    });
    await world.append();
    const delivered = world.deliver();
    await eventually('the request arrived', () => open !== undefined);
    await world.clock.advance(1_000);
    await world.changeEndpoint(endpoint.id, { status: 'disabled' });
    await world.changeEndpoint(endpoint.id, { status: 'enabled' });
    open?.writeHead(410).end();
    await delivered;
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
    world.receiver.respondWith(endpoint.path, 410);
    await world.append();
    await world.deliver();
    const after410 = await getEndpoint(world.db, world.caller.merchantId, endpoint.id);
    assert.deepEqual([after410.status, after410.disabledReason], ['disabled', 'gone'], 'to what was sent since');
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
      const eventId = await world.append();
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
