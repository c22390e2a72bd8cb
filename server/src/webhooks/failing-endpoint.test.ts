import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { getEndpoint } from './manage-endpoints.ts';
import { answering, createDeliveryWorker, createDeliveryWorld } from './webhook-world.corpus.ts';
import type { DeliveryWorld } from './webhook-world.corpus.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

interface Health {
  lastSuccessAt: Date | null;
  failingSince: Date | null;
  lastFailure: string | null;
  warnedAt: Date | null;
}

function healthOf(endpointId: string): Promise<Health | undefined> {
  return world.db.row<Health>({
    name: 'test_health',
    text: `SELECT last_success_at AS "lastSuccessAt", failing_since AS "failingSince", last_failure AS "lastFailure",
                  warned_at AS "warnedAt"
           FROM webhook_endpoint_health WHERE merchant_id = $1 AND endpoint_id = $2`,
    values: [world.caller.merchantId, endpointId],
  });
}

/** What the merchant was told of the endpoint, in the order of its sequence numbers. */
function toldOf(endpointId: string): Promise<{ kind: string; record: Record<string, unknown>; sequence: bigint }[]> {
  return world.db.rows({
    name: 'test_told',
    text: 'SELECT kind, record, sequence FROM events WHERE merchant_id = $1 AND object_id = $2 ORDER BY sequence',
    values: [world.caller.merchantId, endpointId],
  });
}

async function kindsToldOf(endpointId: string): Promise<string[]> {
  return (await toldOf(endpointId)).map(({ kind }) => kind);
}

/** Goes on for so long, with an event every six hours, and delivers whatever is due at each. */
async function live(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 6 * hourMs) {
    await world.dispatch();
    await world.deliver();
    await world.clock.advance(6 * hourMs);
  }
}

async function tryOnce(): Promise<void> {
  await world.dispatch();
  await world.deliver();
}

describe('an endpoint that fails', () => {
  it('is told of after a day and switched off after five, and what it has not received is kept', async () => {
    const endpoint = await world.endpointAt(answering(503));
    const since = world.clock.now();
    await live(dayMs);
    assert.deepEqual(await kindsToldOf(endpoint.id), [], 'not before a day has passed');
    await live(4 * dayMs);
    assert.deepEqual(await kindsToldOf(endpoint.id), ['webhook_endpoint.failing']);
    const { merchantId } = world.caller;
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, since);

    const last = await world.dispatch();
    await world.deliver();
    const [failing, disabled, ...none] = await toldOf(endpoint.id);
    assert.deepEqual(none, []);
    assert.deepEqual([failing?.kind, failing?.sequence], ['webhook_endpoint.failing', 1n]);
    assert.deepEqual([disabled?.kind, disabled?.sequence], ['webhook_endpoint.disabled', 2n]);
    const { record } = disabled ?? {};
    assert.deepEqual(
      [record?.['id'], record?.['status'], record?.['disabled_reason']],
      [endpoint.id, 'disabled', 'failing'],
    );
    assert.ok(!('secret' in (record ?? {})));
    const off = await getEndpoint(world.db, merchantId, endpoint.id);
    assert.deepEqual([off.status, off.disabledReason], ['disabled', 'failing']);
    assert.equal((await world.deliveryOf(last, endpoint.id)).status, 'kept');
    const later = await world.dispatch();
    await world.deliver();
    assert.equal((await world.deliveryOf(later, endpoint.id)).status, 'kept');
    const lines = world.logged.filter((line) => line.includes(endpoint.id));
    assert.equal(lines.filter((line) => line.includes('has failed for 24 hours')).length, 1);
    assert.equal(lines.filter((line) => line.includes('five days and is off')).length, 1);
  });

  it('is told of to those who subscribe to that, once', async () => {
    const failing = await world.endpointAt(answering(500));
    const watching = await world.endpointAt();
    const enabledEvents = ['webhook_endpoint.failing', 'webhook_endpoint.disabled'];
    await world.changeEndpoint(watching.id, { enabledEvents });
    await live(dayMs);
    for (let attempt = 0; attempt < 3; attempt += 1) await tryOnce();
    await world.worker.fanOutDue(world.caller.merchantId);
    await world.deliver();
    const received = watching.received().map(({ body }) => JSON.parse(body.toString()));
    const told = received.filter(({ data }) => data.id === failing.id);
    assert.deepEqual(
      told.map((event) => event.event),
      ['webhook_endpoint.failing'],
    );
    assert.deepEqual([told[0].data.status, told[0].test_mode], ['enabled', true]);
  });

  it('that succeeds once in between is not switched off: the count begins anew', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await live(3 * dayMs);
    world.receiver.answerWith(endpoint.path, 200);
    await tryOnce();
    const successAt = world.clock.now();
    const healthy = await healthOf(endpoint.id);
    assert.deepEqual(
      [healthy?.lastSuccessAt, healthy?.failingSince, healthy?.warnedAt, healthy?.lastFailure],
      [successAt, null, null, '500'],
    );
    world.receiver.answerWith(endpoint.path, 502);
    await world.clock.advance(hourMs);
    const failingSince = world.clock.now();
    await live(4 * dayMs);
    const health = await healthOf(endpoint.id);
    assert.deepEqual([health?.failingSince, health?.lastFailure], [failingSince, '502']);
    assert.deepEqual(await kindsToldOf(endpoint.id), ['webhook_endpoint.failing', 'webhook_endpoint.failing']);
    assert.equal((await getEndpoint(world.db, world.caller.merchantId, endpoint.id)).status, 'enabled');
  });

  it('that had nothing to do for a week is judged by its next attempt', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await tryOnce();
    await world.changeEndpoint(endpoint.id, { description: 'Changed, which changes nothing here.' });
    await world.clock.jump(7 * dayMs);
    assert.deepEqual(await kindsToldOf(endpoint.id), []);
    await world.deliver();
    assert.deepEqual(await kindsToldOf(endpoint.id), ['webhook_endpoint.disabled']);
  });

  it('starts anew when it is switched on again, and when it gets another URL', async () => {
    const endpoint = await world.endpointAt(answering(500));
    await live(5 * dayMs + hourMs);
    const { merchantId } = world.caller;
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).disabledReason, 'failing');
    await world.changeEndpoint(endpoint.id, { status: 'enabled' });
    await tryOnce();
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());

    await live(4 * dayMs);
    await world.changeEndpoint(endpoint.id, { url: `${world.receiver.url(endpoint.path)}?new` });
    world.receiver.answer(`${endpoint.path}?new`, answering(500));
    await live(2 * dayMs);
    assert.equal((await getEndpoint(world.db, merchantId, endpoint.id)).status, 'enabled');
  });

  it('is not judged by what callback addresses answer', async () => {
    world.receiver.answerWith('/failing-callback', 500);
    await world.dispatch({ callbackUrl: world.receiver.url('/failing-callback') });
    await world.deliver();
    assert.equal(world.receiver.to('/failing-callback').length, 1);
    assert.equal(await healthOf(world.defaultEndpoint.endpoint.id), undefined);
  });
});

describe('the health of an endpoint', () => {
  it('is written at changes and otherwise now and then', async () => {
    const endpoint = await world.endpointAt();
    const firstAt = world.clock.now();
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, firstAt);
    await world.clock.advance(9_999);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, firstAt, 'no ten seconds have passed');
    await world.clock.advance(1);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.lastSuccessAt, world.clock.now());
    world.receiver.answer(endpoint.path, (response) => response.socket?.resetAndDestroy());
    await world.clock.advance(1);
    await tryOnce();
    const { failingSince, lastFailure } = (await healthOf(endpoint.id)) ?? {};
    assert.deepEqual([failingSince, lastFailure], [world.clock.now(), 'reset']);
    world.receiver.answerWith(endpoint.path, 404);
    await world.clock.advance(1);
    await tryOnce();
    assert.equal((await healthOf(endpoint.id))?.lastFailure, '404');
    world.receiver.answerWith(endpoint.path, 204);
    await world.clock.advance(1);
    await tryOnce();
    const after = await healthOf(endpoint.id);
    assert.deepEqual([after?.lastSuccessAt, after?.failingSince], [world.clock.now(), null]);
  });

  it('holds what several workers saw: a success that one saw ends the failing that the other did', async () => {
    const endpoint = await world.endpointAt(answering(500));
    const other = createDeliveryWorker(world.context);
    await tryOnce();
    assert.ok((await healthOf(endpoint.id))?.failingSince);
    world.receiver.answerWith(endpoint.path, 200);
    await world.dispatch();
    await other.deliver(world.caller.merchantId);
    assert.equal((await healthOf(endpoint.id))?.failingSince, null);
    // This one has known it as failing since the first.
    world.receiver.answerWith(endpoint.path, 500);
    await world.clock.advance(10_000);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());
  });

  it('ends its failing also where the worker that sees the next try succeed has told of a success just before', async () => {
    const endpoint = await world.endpointAt();
    const other = createDeliveryWorker(world.context);
    await world.dispatch();
    await other.deliver(world.caller.merchantId);
    world.receiver.answerWith(endpoint.path, 500);
    await tryOnce();
    assert.deepEqual((await healthOf(endpoint.id))?.failingSince, world.clock.now());
    world.receiver.answerWith(endpoint.path, 200);
    await world.clock.advance(6_000);
    await other.deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 3);
    assert.equal((await healthOf(endpoint.id))?.failingSince, null);
    // One failure after a quiet week would switch it off.
    await world.clock.jump(7 * dayMs);
    world.receiver.answerWith(endpoint.path, 503);
    await tryOnce();
    assert.deepEqual(await kindsToldOf(endpoint.id), []);
  });
});
