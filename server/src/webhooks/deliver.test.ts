import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { getEndpoint } from './manage-endpoints.ts';
import { retryDelaysMs } from './retry-schedule.ts';
import { rotateSecret } from './rotate-secret.ts';
import { answering, createDeliveryWorld } from './webhook-world.corpus.ts';
import type { DeliveryWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

describe('a delivery', () => {
  it('sends the signed event to the endpoint', async () => {
    const endpoint = await world.endpointAt(answering(204));
    const eventId = await world.dispatch({ sequence: 3n, record: { id: 'c1', amount: 10.5, name: 'Ŋ 🙂' } });
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
    const eventId = await world.dispatch();
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

describe('a callback URL', () => {
  it('receives the event signed with the default endpoint’s secret, and its 410 ends only this delivery', async () => {
    world.receiver.respondWith('/order', 410);
    const eventId = await world.dispatch({ callbackUrl: world.receiver.url('/order') });
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
      const eventId = await world.dispatch({ callbackUrl });
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
      await world.dispatch();
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
