import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { appendEvent } from '../events/append-event.ts';
import type { NewEvent } from '../events/event.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { createDefaultEndpoint, deleteEndpoint, updateEndpoint } from './manage-endpoints.ts';
import { createCommandPlanner } from './delivery-planner.ts';
import { endpointQueueKey } from './delivery.ts';
import { claimDeliveries } from './queries/deliveries.ts';
import { sendTestEvent } from './resend-event.ts';
import { countStatements, createWebhookWorld, listDeliveries, type WebhookWorld } from './webhook-world.corpus.ts';

let world: WebhookWorld;
before(async () => {
  world = await createWebhookWorld();
});
after(() => world.close());

/** A test's endpoints must not be part of the next test. */
let endpointIds: string[] = [];
beforeEach(async () => {
  for (const id of endpointIds) await world.change((tx) => deleteEndpoint(tx, world.context, world.caller, id));
  endpointIds = [];
  await world.db.run({ name: 'test_work_delete', text: 'DELETE FROM outbox', values: [] });
  world.scheduled.length = 0;
});

async function createEndpoint(path: string, enabledEvents?: string[]) {
  const created = await world.createEndpoint({ url: world.receiver.url(path), enabledEvents });
  endpointIds.push(created.endpoint.id);
  return created.endpoint;
}

function disable(id: string): Promise<unknown> {
  return world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'disabled' } }));
}

async function deliveriesOf(eventId: string) {
  return (await listDeliveries(world)).filter((delivery) => delivery.eventId === eventId);
}

async function receiversOf(eventId: string): Promise<string[]> {
  return (await deliveriesOf(eventId)).map(({ endpointId }) => endpointId).toSorted();
}

function workLeft(): Promise<Work[]> {
  return world.db.rows<Work>({
    name: 'test_work',
    text: `SELECT merchant_id AS "merchantId", queue, kind, subject_id AS "subjectId", attempts, version,
                  created_at AS "createdAt" FROM outbox`,
    values: [],
  });
}

function charge(objectId: string): NewEvent {
  const { merchantId } = world.caller;
  return { merchantId, kind: 'charge.succeeded', objectId, sequence: 1n, record: { id: objectId }, callbackUrl: null };
}

/** A process that hears of no change. */
function createDeafProcess() {
  const planner = createCommandPlanner(world.context);
  return {
    append: async (): Promise<string> => {
      const id = world.context.newId();
      const context = {
        ...world.context,
        newId: () => id,
        planDeliveries: (tx: Transaction, event: Parameters<typeof planner.plan>[1]) => planner.plan(tx, event),
      };
      await world.change(async (tx) => appendEvent(tx, context, charge(world.context.newId())));
      return id;
    },
  };
}

describe('an event', () => {
  it('is written with one delivery for each receiver, whose queues are scheduled after the commit', async () => {
    const one = await createEndpoint('/one');
    const two = await createEndpoint('/two', ['charge.succeeded']);
    await createEndpoint('/other', ['charge.failed']);
    const callbackUrl = world.receiver.url('/callback');
    const eventId = await world.append({ callbackUrl });
    const expected = [
      { endpointId: one.id, callbackUrl: null },
      { endpointId: two.id, callbackUrl: null },
      { endpointId: world.defaultEndpoint.endpoint.id, callbackUrl },
    ];
    assert.deepEqual(
      (await deliveriesOf(eventId)).map(({ endpointId, callbackUrl: url, status, attempts, nextAttemptAt }) => ({
        ...{ endpointId, callbackUrl: url, status, attempts, nextAttemptAt },
      })),
      expected.map((each) => ({ ...each, status: 'pending', attempts: 0n, nextAttemptAt: world.clock.now() })),
    );
    const { merchantId } = world.caller;
    const keys = [one.id, two.id, null].map((endpointId) => endpointQueueKey({ merchantId, endpointId }));
    assert.deepEqual(world.scheduled, keys);
    assert.deepEqual((await world.worker.listDueKeys()).toSorted(), keys.toSorted());
  });

  it('that nobody receives costs neither a delivery nor work, and schedules nothing', async () => {
    const eventId = await world.append();
    assert.deepEqual([await deliveriesOf(eventId), await workLeft(), world.scheduled], [[], [], []]);
  });

  it('has no delivery when its transaction is rolled back', async () => {
    await createEndpoint('/one');
    const before = (await listDeliveries(world)).length;
    const failing = world.change(async (tx) => {
      appendEvent(tx, world.context, charge(world.context.newId()));
      tx.beforeCommit(() => Promise.reject(new Error('the process died here')));
    });
    await assert.rejects(failing, /died here/);
    assert.deepEqual([(await listDeliveries(world)).length, world.scheduled], [before, []]);
  });

  it('is kept for a disabled endpoint', async () => {
    const { id } = await createEndpoint('/off');
    await disable(id);
    const [delivery] = await deliveriesOf(await world.append());
    assert.deepEqual([delivery?.status, delivery?.nextAttemptAt, world.scheduled], ['kept', null, []]);
  });

  it('of a transaction that changes the endpoints is planned by the new ones', async () => {
    const { id } = await createEndpoint('/off');
    await world.append();
    const objectId = world.context.newId();
    await world.change(async (tx) => {
      appendEvent(tx, world.context, charge(objectId));
      await updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'disabled' } });
    });
    const [event] = await world.db.rows<{ id: string }>({
      name: 'test_event',
      text: 'SELECT id FROM events WHERE object_id = $1',
      values: [objectId],
    });
    assert.deepEqual(
      (await deliveriesOf(event?.id ?? '')).map(({ status }) => status),
      ['kept'],
    );
  });

  it('stays within the merchant', async () => {
    await world.change(async (tx) => createDefaultEndpoint(tx, world.context, world.liveMerchantId));
    const { id } = await createEndpoint('/test');
    assert.deepEqual(await receiversOf(await world.append()), [id]);
    assert.deepEqual(await receiversOf(await world.append({ merchantId: world.liveMerchantId })), []);
  });
});

describe('a change of endpoints', () => {
  it('holds at once in the process that made it', async () => {
    const first = await createEndpoint('/first');
    assert.deepEqual(await receiversOf(await world.append()), [first.id]);
    const second = await createEndpoint('/second');
    assert.deepEqual(await receiversOf(await world.append()), [first.id, second.id].toSorted());
    await world.change((tx) => deleteEndpoint(tx, world.context, world.caller, second.id));
    endpointIds = [first.id];
    assert.deepEqual(await receiversOf(await world.append()), [first.id]);
  });

  it('loses no event of a process that has not heard of it: what was missed is planned later, once', async () => {
    const deaf = createDeafProcess();
    await deaf.append();
    await world.db.run({ name: 'test_work_delete', text: 'DELETE FROM outbox', values: [] });
    const { id } = await createEndpoint('/new');
    // More than a page of them.
    const missed = await Promise.all(Array.from({ length: 120 }, () => deaf.append()));
    const planned = await world.append();
    assert.deepEqual([await receiversOf(missed[0] ?? ''), await receiversOf(planned)], [[], [id]]);
    const [work] = await workLeft();
    assert.equal(work?.kind, 'plan_deliveries');
    const replan = () => world.context.planner.replan(world.db, work);
    await Promise.all([replan(), replan()]);
    for (const eventId of [...missed, planned]) assert.deepEqual(await receiversOf(eventId), [id]);
    assert.deepEqual(await workLeft(), []);
  });

  it('that enables an endpoint holds back no event of a process that has not heard of it', async () => {
    await world.clock.advance(60_000);
    const { id } = await createEndpoint('/on-again');
    await disable(id);
    const deaf = createDeafProcess();
    await deaf.append();
    await world.db.run({ name: 'test_work_delete', text: 'DELETE FROM outbox', values: [] });
    await world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'enabled' } }));
    const eventId = await deaf.append();
    const statusNow = async () => (await deliveriesOf(eventId)).map(({ endpointId, status }) => [endpointId, status]);
    assert.deepEqual(await statusNow(), [[id, 'kept']]);
    const [work] = await workLeft();
    assert.ok(work);
    world.scheduled.length = 0;
    const replan = () => world.context.planner.replan(world.db, work);
    await Promise.all([replan(), replan()]);
    assert.deepEqual(await statusNow(), [[id, 'pending']]);
    assert.ok(world.scheduled.includes(endpointQueueKey({ merchantId: world.caller.merchantId, endpointId: id })));
    await world.worker.deliver(world.caller.merchantId);
    assert.deepEqual(await statusNow(), [[id, 'delivered']]);
  });

  it('that switches the endpoint at the callback URL sends nothing there once more', async () => {
    await world.clock.advance(60_000);
    const { id } = await createEndpoint('/both');
    const callbackUrl = world.receiver.url('/both');
    const { merchantId } = world.caller;
    const delivered = await world.append({ callbackUrl });
    await world.worker.deliver(merchantId);
    await disable(id);
    const calledBack = await world.append({ callbackUrl });
    await world.worker.deliver(merchantId);
    await world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'enabled' } }));
    for (const work of await workLeft()) await world.context.planner.replan(world.db, work);
    await world.worker.deliver(merchantId);
    const received = world.receiver.to('/both').map(({ body }) => (JSON.parse(String(body)) as { id: string }).id);
    assert.deepEqual(received, [delivered, calledBack]);
  });

  it('that disables the endpoint at the callback URL sends nothing there that it has received', async () => {
    await world.clock.advance(60_000);
    const { id } = await createEndpoint('/both-off');
    const callbackUrl = world.receiver.url('/both-off');
    const { merchantId } = world.caller;
    const delivered = await world.append({ callbackUrl });
    await world.worker.deliver(merchantId);
    const waiting = await world.append({ callbackUrl });
    await disable(id);
    for (const work of await workLeft()) await world.context.planner.replan(world.db, work);
    await world.worker.deliver(merchantId);
    const received = world.receiver.to('/both-off').map(({ body }) => (JSON.parse(String(body)) as { id: string }).id);
    assert.deepEqual(received, [delivered, waiting]);
  });

  it('that creates an endpoint at the callback URL sends nothing there that it has received', async () => {
    await world.clock.advance(60_000);
    const callbackUrl = world.receiver.url('/new-at-callback');
    const { merchantId } = world.caller;
    const delivered = await world.append({ callbackUrl });
    await world.worker.deliver(merchantId);
    const waiting = await world.append({ callbackUrl });
    await createEndpoint('/new-at-callback');
    for (const work of await workLeft()) await world.context.planner.replan(world.db, work);
    await world.worker.deliver(merchantId);
    const bodies = world.receiver.to('/new-at-callback').map(({ body }) => JSON.parse(String(body)) as { id: string });
    assert.deepEqual(
      bodies.map(({ id }) => id),
      [delivered, waiting],
    );
  });

  it('writes no delivery once more that is planned: to an endpoint, and to a callback URL', async () => {
    // Later than what the other tests have written.
    await world.clock.advance(60_000);
    const deaf = createDeafProcess();
    await deaf.append();
    await world.db.run({ name: 'test_work_delete', text: 'DELETE FROM outbox', values: [] });
    await createEndpoint('/new');
    const callbackUrl = world.receiver.url('/callback');
    for (let count = 0; count < 30; count += 1) await world.append({ callbackUrl });
    await deaf.append();
    const [work] = await workLeft();
    assert.ok(work);
    const counted = countStatements(world.db);
    await world.context.planner.replan(counted.db, work);
    assert.equal(counted.of('webhook_deliveries_insert_once'), 2, 'those of the process that has not heard of it');
  });

  it('plans no test event once more, which is for one endpoint, whatever another one subscribes to', async () => {
    await world.clock.advance(60_000);
    await createEndpoint('/all', ['*']);
    const { id } = await createEndpoint('/tested');
    const eventId = await world.change((tx) => sendTestEvent(tx, world.context, world.caller, id));
    for (const work of await workLeft()) await world.context.planner.replan(world.db, work);
    assert.deepEqual(await receiversOf(eventId), [id]);
  });

  it('reaches a process that has not heard of it within three seconds', async () => {
    const deaf = createDeafProcess();
    await deaf.append();
    const { id } = await createEndpoint('/new');
    assert.deepEqual(await receiversOf(await deaf.append()), []);
    await world.clock.advance(3_000);
    assert.deepEqual(await receiversOf(await deaf.append()), [id]);
  });

  it('that disables an endpoint sends nothing more, also where a process has not heard of it', async () => {
    const deaf = createDeafProcess();
    const { id } = await createEndpoint('/off-meanwhile');
    await deaf.append();
    await disable(id);
    const eventId = await deaf.append();
    const { merchantId } = world.caller;
    const statusNow = async () => (await deliveriesOf(eventId)).map(({ endpointId, status }) => [endpointId, status]);
    assert.deepEqual(await statusNow(), [[id, 'pending']]);
    const now = world.clock.now();
    const claim = { merchantId, endpointId: id, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 1 };
    assert.deepEqual(await claimDeliveries(world.db, claim), []);
    await world.worker.deliver(merchantId);
    assert.deepEqual(await statusNow(), [[id, 'kept']]);
    assert.deepEqual(world.receiver.to('/off-meanwhile'), []);
  });

  it('leaves nothing pending for an endpoint that is disabled or deleted while events are written', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await createEndpoint(`/race/${round}`);
      const switchOff =
        round % 2 === 0 ? disable(id) : world.change((tx) => deleteEndpoint(tx, world.context, world.caller, id));
      if (round % 2 === 1) endpointIds = endpointIds.filter((endpointId) => endpointId !== id);
      const [eventId] = await Promise.all([world.append(), switchOff]);
      await world.worker.deliver(world.caller.merchantId);
      const statuses = (await deliveriesOf(eventId)).filter((row) => row.endpointId === id).map((row) => row.status);
      assert.ok(!statuses.includes('pending'), `round ${round}: ${statuses.join()}`);
    }
  });
});
