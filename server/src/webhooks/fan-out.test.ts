import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Statement } from '../kit/db.ts';
import { createDefaultEndpoint, deleteEndpoint, updateEndpoint } from './manage-endpoints.ts';
import { fanOutDueEvents, fanOutEvent } from './fan-out.ts';
import { endpointQueueKey } from './delivery.ts';
import { claimDeliveries } from './queries/deliveries.ts';
import { createWebhookWorld, listDeliveries } from './webhook-world.corpus.ts';
import type { WebhookWorld } from './webhook-world.corpus.ts';

let world: WebhookWorld;
before(async () => {
  world = await createWebhookWorld();
});
after(() => world.close());

/** A test's endpoints must not be part of the next test. */
let endpointIds: string[] = [];
beforeEach(async () => {
  for (const id of endpointIds) await world.change((tx) => deleteEndpoint(tx, world.clock, world.caller, id));
  endpointIds = [];
  world.scheduled.length = 0;
});

async function createEndpoint(path: string, enabledEvents?: string[]) {
  const created = await world.createEndpoint({ url: world.receiver.url(path), enabledEvents });
  endpointIds.push(created.endpoint.id);
  return created.endpoint;
}

async function deliveriesOf(eventId: string) {
  return (await listDeliveries(world)).filter((delivery) => delivery.eventId === eventId);
}

/** A database in whose transactions `meanwhile` runs after the named statement. */
function interruptedAfter(name: string, meanwhile: () => Promise<unknown>): Database {
  const withTransaction: Database['withTransaction'] = (body) =>
    world.db.withTransaction((tx) =>
      body({
        requestId: tx.requestId,
        rows: async <Row>(statement: Statement) => {
          const rows = await tx.rows<Row>(statement);
          if (statement.name === name) await meanwhile();
          return rows;
        },
        row: (statement) => tx.row(statement),
        run: (statement) => tx.run(statement),
        send: (statement) => tx.send(statement),
        afterCommit: (action) => tx.afterCommit(action),
      }),
    );
  return new Proxy(world.db, {
    get: (db, name: keyof Database) => (name === 'withTransaction' ? withTransaction : db[name]),
  });
}

async function workLeft(work: Work): Promise<number> {
  const rows = await world.db.rows({
    name: 'test_work_left',
    text: 'SELECT FROM outbox WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3',
    values: [work.merchantId, work.kind, work.subjectId],
  });
  return rows.length;
}

describe('fanning an event out', () => {
  it('writes one delivery for each receiver, ends the work and schedules the endpoint queues', async () => {
    const one = await createEndpoint('/one');
    const two = await createEndpoint('/two', ['charge.succeeded']);
    await createEndpoint('/other', ['charge.failed']);
    const { eventId, work } = await world.append({ callbackUrl: world.receiver.url('/callback') });
    await fanOutEvent(world.context, work);
    assert.deepEqual(
      (await deliveriesOf(eventId)).map(({ endpointId, callbackUrl, status, attempts, nextAttemptAt }) => ({
        ...{ endpointId, callbackUrl, status, attempts, nextAttemptAt },
      })),
      [
        [one.id, null],
        [two.id, null],
        [world.defaultEndpoint.endpoint.id, world.receiver.url('/callback')],
      ].map(([endpointId, callbackUrl]) => ({
        ...{ endpointId, callbackUrl, status: 'pending', attempts: 0n, nextAttemptAt: world.clock.now() },
      })),
    );
    assert.equal(await workLeft(work), 0);
    const { merchantId } = world.caller;
    const keys = [one.id, two.id, null].map((endpointId) => endpointQueueKey({ merchantId, endpointId }));
    assert.deepEqual(world.scheduled, keys);
    assert.deepEqual((await world.worker.listDueKeys()).toSorted(), keys.toSorted());
  });

  it('ends the work of an event without subscribers, and schedules nothing', async () => {
    const { eventId, work } = await world.append();
    await fanOutEvent(world.context, work);
    assert.deepEqual(await deliveriesOf(eventId), []);
    assert.equal(await workLeft(work), 0);
    assert.deepEqual(world.scheduled, []);
  });

  it('writes all deliveries or none: a crash in between leaves the work due', async () => {
    await createEndpoint('/one');
    await createEndpoint('/two');
    const { eventId, work } = await world.append();
    let idsLeft = 1;
    const newId = (): string => {
      if (idsLeft === 0) throw new Error('the process died here');
      idsLeft -= 1;
      return world.context.newId();
    };
    await assert.rejects(fanOutEvent({ ...world.context, newId }, work), /died here/);
    assert.deepEqual(await deliveriesOf(eventId), []);
    assert.equal(await workLeft(work), 1);
    assert.deepEqual(world.scheduled, []);
    await fanOutEvent(world.context, work);
    assert.equal((await deliveriesOf(eventId)).length, 2);
    assert.equal(await workLeft(work), 0);
  });

  it('adds nothing when it is repeated, also concurrently', async () => {
    await createEndpoint('/one');
    const { eventId, work } = await world.append({ callbackUrl: world.receiver.url('/callback') });
    await Promise.all(Array.from({ length: 5 }, () => fanOutEvent(world.context, work)));
    const written = await deliveriesOf(eventId);
    assert.equal(written.length, 2);
    await fanOutEvent(world.context, work);
    assert.deepEqual(await deliveriesOf(eventId), written);
  });

  it('keeps the event for a disabled endpoint', async () => {
    const { id } = await createEndpoint('/off');
    await world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'disabled' } }));
    const { eventId, work } = await world.append();
    await fanOutEvent(world.context, work);
    const [delivery] = await deliveriesOf(eventId);
    assert.deepEqual([delivery?.status, delivery?.nextAttemptAt], ['kept', null]);
    assert.deepEqual(world.scheduled, []);
  });

  it('does not block disabling an endpoint meanwhile; its delivery is then kept and never sent', async () => {
    const { id } = await createEndpoint('/off-meanwhile');
    const { merchantId } = world.caller;
    const { eventId, work } = await world.append();
    const switchOff = () =>
      world.change((tx) => updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'disabled' } }));
    await fanOutEvent(
      { ...world.context, db: interruptedAfter('webhook_endpoints_list_for_fan_out', switchOff) },
      work,
    );
    const statusNow = async () => (await deliveriesOf(eventId)).map(({ endpointId, status }) => [endpointId, status]);
    assert.deepEqual(await statusNow(), [[id, 'pending']]);
    // A worker that read the endpoint before it was disabled.
    const now = world.clock.now();
    const claim = { merchantId, endpointId: id, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 1 };
    assert.deepEqual(await claimDeliveries(world.db, claim), []);
    await world.worker.deliver(merchantId);
    assert.deepEqual(await statusNow(), [[id, 'kept']]);
    assert.deepEqual(world.receiver.to('/off-meanwhile'), []);
  });

  it('leaves nothing pending for an endpoint that is disabled or deleted concurrently', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await createEndpoint(`/race/${round}`);
      const { eventId, work } = await world.append();
      const switchOff =
        round % 2 === 0
          ? world.change((tx) =>
              updateEndpoint(tx, world.context, world.caller, { id, change: { status: 'disabled' } }),
            )
          : world.change((tx) => deleteEndpoint(tx, world.clock, world.caller, id));
      if (round % 2 === 1) endpointIds = endpointIds.filter((endpointId) => endpointId !== id);
      await Promise.all([fanOutEvent(world.context, work), switchOff]);
      await world.worker.deliver(world.caller.merchantId);
      assert.deepEqual(world.receiver.to(`/race/${round}`), []);
      const statuses = (await deliveriesOf(eventId)).filter((row) => row.endpointId === id).map((row) => row.status);
      assert.ok(!statuses.includes('pending'), `round ${round}: ${statuses.join()}`);
    }
  });

  it('stays within the merchant', async () => {
    await world.change(async (tx) => createDefaultEndpoint(tx, world.context, world.liveMerchantId));
    await createEndpoint('/test');
    const foreign = await world.append();
    await fanOutEvent(world.context, { ...foreign.work, merchantId: world.liveMerchantId });
    assert.deepEqual(await deliveriesOf(foreign.eventId), []);
    assert.equal(await workLeft(foreign.work), 1);
  });
});

describe('fanning out what is due, in batches', () => {
  /** The worker that claimed the events' work has died: the work is due again. */
  const endLeases = () => world.clock.advance(60_000);

  it('writes the deliveries of all events and ends their work, in one transaction', async () => {
    const { id } = await createEndpoint('/batch');
    const events = await Promise.all(Array.from({ length: 5 }, () => world.append()));
    const callbackUrl = world.receiver.url('/batch/callback');
    const withCallback = await world.append({ callbackUrl });
    await endLeases();
    assert.equal(await fanOutDueEvents(world.context, world.caller.merchantId), false);
    for (const { eventId, work } of events) {
      assert.deepEqual(
        (await deliveriesOf(eventId)).map(({ endpointId, status }) => ({ endpointId, status })),
        [{ endpointId: id, status: 'pending' }],
      );
      assert.equal(await workLeft(work), 0);
    }
    assert.equal((await deliveriesOf(withCallback.eventId)).length, 2);
    const { merchantId } = world.caller;
    const keys = [id, null].map((endpointId) => endpointQueueKey({ merchantId, endpointId }));
    assert.deepEqual(world.scheduled, keys, 'each endpoint queue once');
  });

  it('returns that more may be due until nothing is', async () => {
    for (let count = 0; count < 100; count += 1) await world.append();
    await endLeases();
    assert.equal(await fanOutDueEvents(world.context, world.caller.merchantId), true);
    assert.equal(await fanOutDueEvents(world.context, world.caller.merchantId), false);
    assert.deepEqual(world.scheduled, []);
  });

  it('fans out a whole batch or nothing: after a crash it is due as before', async () => {
    await createEndpoint('/batch');
    const events = [await world.append(), await world.append()];
    await endLeases();
    let idsLeft = 1;
    const newId = (): string => {
      if (idsLeft === 0) throw new Error('the process died here');
      idsLeft -= 1;
      return world.context.newId();
    };
    await assert.rejects(fanOutDueEvents({ ...world.context, newId }, world.caller.merchantId), /died here/);
    for (const { eventId, work } of events) {
      assert.deepEqual(await deliveriesOf(eventId), []);
      assert.equal(await workLeft(work), 1);
    }
    await fanOutDueEvents(world.context, world.caller.merchantId);
    for (const { eventId } of events) assert.equal((await deliveriesOf(eventId)).length, 1);
  });

  it('fans each event out once, with several workers', async () => {
    await createEndpoint('/batch');
    const events = await Promise.all(Array.from({ length: 20 }, () => world.append()));
    await endLeases();
    await Promise.all(Array.from({ length: 4 }, () => fanOutDueEvents(world.context, world.caller.merchantId)));
    for (const { eventId } of events) assert.equal((await deliveriesOf(eventId)).length, 1);
  });

  it('leaves the work of another merchant alone', async () => {
    const { work } = await world.append();
    await endLeases();
    assert.equal(await fanOutDueEvents(world.context, world.liveMerchantId), false);
    assert.equal(await workLeft(work), 1);
    await fanOutDueEvents(world.context, world.caller.merchantId);
  });
});
