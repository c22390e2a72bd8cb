import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Statement } from '../kit/db.ts';
import { createSealer } from '../kit/seal.ts';
import { claimDeliveries, markAttemptsFailed, markDelivered, putBackDeliveries } from './queries/deliveries.ts';
import { answering, createDeliveryWorker, createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

const limitMs = 15_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

describe('a receiver that hangs', () => {
  it('delays only itself: at most four requests wait for it, while other receivers get theirs at once', async () => {
    const hanging = await world.endpointAt(() => {});
    const healthy = await world.endpointAt();
    for (let count = 0; count < 12; count += 1) await world.append();
    const delivered = world.deliver();
    await eventually('the healthy one has received all', () => healthy.received().length === 12);
    await eventually('the hanging one has received four', () => hanging.received().length === 4);
    // An event that is dispatched while requests are under way waits for none of them.
    await world.append();
    await eventually('the newest has arrived too', () => healthy.received().length === 13);
    assert.equal(hanging.received().length, 4);
    world.receiver.respond(hanging.path, answering(200));
    await world.clock.advance(limitMs);
    await delivered;
    assert.equal(hanging.received().length, 13);
  });

  it('does not delay deliveries to the same merchant’s callback URLs', async () => {
    const hanging = await world.endpointAt(() => {});
    for (let count = 0; count < 9; count += 1) await world.append();
    const delivered = world.deliver();
    await eventually('the hanging one has received four', () => hanging.received().length === 4);
    await world.append({ callbackUrl: world.receiver.url('/callback/beside') });
    await eventually('the callback URL has received it', () => world.receiver.to('/callback/beside').length === 1);
    await world.changeEndpoint(hanging.id, { status: 'disabled' });
    await world.clock.advance(limitMs);
    await delivered;
    assert.equal(hanging.received().length, 4);
  });
});

describe('a worker', () => {
  it('shares the work with others: every event is sent once', async () => {
    const endpoint = await world.endpointAt();
    for (let count = 0; count < 40; count += 1) await world.append();
    const others = [createDeliveryWorker(world.context), createDeliveryWorker(world.context)];
    await Promise.all([world.worker, ...others].map((worker) => worker.deliver(world.caller.merchantId)));
    const ids = endpoint.received().map((request) => request.headers['webhook-id']);
    assert.equal(ids.length, 40);
    assert.equal(new Set(ids).size, 40);
  });

  it('that dies loses nothing: its claimed deliveries are sent when their lease ends', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    const now = world.clock.now();
    const { merchantId } = world.caller;
    const claim = { merchantId, endpointId: endpoint.id, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 8 };
    assert.equal((await claimDeliveries(world.db, claim)).length, 1);
    await world.deliver();
    assert.equal(endpoint.received().length, 0);
    await world.clock.advance(30_000);
    await world.deliver();
    assert.equal(endpoint.received().length, 1);
    const { status, attempts } = await world.deliveryOf(eventId);
    assert.deepEqual([status, attempts], ['delivered', 2n]);
  });

  it('that was only slow cannot record an outcome once another one has claimed the delivery', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    const { merchantId } = world.caller;
    const claim = async () => {
      const now = world.clock.now();
      const due = { merchantId, endpointId: endpoint.id, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 8 };
      const [claimed] = await claimDeliveries(world.db, due);
      assert.ok(claimed);
      return claimed;
    };
    const isRecorded = async (statement: Statement): Promise<boolean> => (await world.db.run(statement)) === 1;
    const deliveredAt = world.clock.now();
    const slow = await claim();
    await world.clock.advance(30_000);
    const next = await claim();
    const failed = { status: 'failed', nextAttemptAt: null } as const;
    assert.equal(await isRecorded(markAttemptsFailed(merchantId, [{ ...slow, ...failed }])), false);
    assert.equal(await isRecorded(markDelivered(merchantId, [{ ...slow, deliveredAt }])), false);
    assert.equal(await isRecorded(putBackDeliveries(merchantId, [slow], deliveredAt)), false);
    assert.equal((await world.deliveryOf(eventId)).status, 'pending');
    assert.equal(await isRecorded(markDelivered(merchantId, [{ ...next, deliveredAt }])), true);
  });

  it('never claims a delivery that another one is claiming', async () => {
    const endpoint = await world.endpointAt();
    for (let count = 0; count < 20; count += 1) await world.append();
    const { merchantId } = world.caller;
    for (let round = 0; round < 10; round += 1) {
      const now = world.clock.now();
      const due = { merchantId, endpointId: endpoint.id, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 5 };
      const claims = Array.from({ length: 8 }, () => claimDeliveries(world.db, due));
      const ids = (await Promise.all(claims)).flat().map((claimed) => claimed.id);
      assert.equal(new Set(ids).size, ids.length);
      await world.clock.advance(30_000);
    }
  });

  it('that cannot record an outcome sends again rather than never', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    const { db } = world;
    const failing: Database = {
      rows: (statement) => db.rows(statement),
      row: (statement) => db.row(statement),
      run: (statement) => db.run(statement),
      withTransaction: () => Promise.reject(new Error('the connection was lost')),
      dedicatedClient: () => db.dedicatedClient(),
      waiting: 0,
      close: () => db.close(),
    };
    await createDeliveryWorker({ ...world.context, db: failing }).deliver(world.caller.merchantId);
    assert.equal((await world.deliveryOf(eventId)).status, 'pending');
    await world.clock.advance(30_000);
    await world.deliver();
    assert.deepEqual(
      endpoint.received().map((request) => request.headers['webhook-id']),
      [eventId, eventId],
    );
    assert.equal((await world.deliveryOf(eventId)).status, 'delivered');
  });

  it('without the key that sealed a secret sends nothing, and the wait costs no attempt', async () => {
    const endpoint = await world.endpointAt();
    const eventId = await world.append();
    const sealer = createSealer(Buffer.alloc(32, 7).toString('base64'));
    await createDeliveryWorker({ ...world.context, sealer }).deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 0);
    const { status, attempts } = await world.deliveryOf(eventId);
    assert.deepEqual([status, attempts], ['pending', 0n]);
    await world.clock.advance(60_000);
    await world.deliver();
    assert.equal((await world.deliveryOf(eventId)).status, 'delivered');
    assert.ok(!world.logged.join('').includes(endpoint.secret.slice(3)));
  });

  it('that stops claims nothing new and finishes requests under way', async () => {
    const open: ServerResponse[] = [];
    const endpoint = await world.endpointAt((response) => open.push(response));
    for (let count = 0; count < 9; count += 1) await world.append();
    const worker = createDeliveryWorker(world.context);
    const delivered = worker.deliver(world.caller.merchantId);
    await eventually('four are under way', () => open.length === 4);
    const stopped = worker.stop();
    for (const response of open) response.writeHead(200).end();
    await stopped;
    await delivered;
    await worker.deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 4);
    world.receiver.respond(endpoint.path, answering(200));
    await world.deliver();
    assert.equal(endpoint.received().length, 9);
  });
});
