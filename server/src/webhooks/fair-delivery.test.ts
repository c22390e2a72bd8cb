import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import {
  answering,
  countStatements,
  createDeliveryWorker,
  createDeliveryWorld,
  listDeliveries,
  type DeliveryWorld,
} from './webhook-world.corpus.ts';

const limitMs = 15_000;
// The permits of all unproven endpoints.
const unprovenMax = 64;

type Merchant = Awaited<ReturnType<DeliveryWorld['newMerchant']>>;

const hang = (): void => {};

describe('when the receivers of many merchants hang', () => {
  let world: DeliveryWorld;
  let hanging: Merchant[];
  const waiting: Promise<void>[] = [];

  const hangingRequests = (): number => hanging.reduce((sum, { received }) => sum + received().length, 0);

  beforeEach(async () => {
    world = await createDeliveryWorld();
    hanging = await Promise.all(Array.from({ length: 20 }, () => world.newMerchant(hang)));
    for (const { append } of hanging) for (let count = 0; count < 6; count += 1) await append();
  });
  afterEach(async () => {
    for (const { path } of hanging) world.receiver.respond(path, answering(200));
    await world.clock.advance(limitMs);
    await Promise.all(waiting.splice(0));
    await world.close();
  });

  it('a receiver that has responded before receives at once', async () => {
    const healthy = await world.newMerchant();
    await healthy.append();
    await healthy.deliver();
    for (const { deliver } of hanging) waiting.push(deliver());
    await eventually('they have all permits of unproven endpoints', () => hangingRequests() === unprovenMax);
    // The clock stands still: nothing waits for a time limit.
    for (let count = 0; count < 30; count += 1) await healthy.append();
    await healthy.deliver();
    assert.equal(healthy.received().length, 31);
    assert.equal(hangingRequests(), unprovenMax);
  });

  it('an unproven receiver waits for one time limit at most, and then never again', async () => {
    for (const { deliver } of hanging) waiting.push(deliver());
    await eventually('they have all permits of unproven endpoints', () => hangingRequests() === unprovenMax);
    const fresh = await world.newMerchant();
    await fresh.append();
    const delivered = fresh.deliver();
    await world.clock.advance(limitMs - 1);
    assert.equal(fresh.received().length, 0);
    await world.clock.advance(1);
    await delivered;
    assert.equal(fresh.received().length, 1);
    // The hanging ones are known now, and their remaining deliveries need permits of slow endpoints.
    await eventually('they hang again', () => hangingRequests() > unprovenMax);
    const another = await world.newMerchant();
    await another.append();
    await another.deliver();
    assert.equal(another.received().length, 1);
  });
});

describe('a merchant with a backlog', () => {
  let world: DeliveryWorld;
  before(async () => {
    world = await createDeliveryWorld();
  });
  after(() => world.close());
  afterEach(() => world.retireAll());

  it('costs a fraction of a statement for each delivery, once its receiver responds', async () => {
    const endpoint = await world.endpointAt();
    for (let count = 0; count < 200; count += 1) await world.append();
    const counted = countStatements(world.db);
    await createDeliveryWorker({ ...world.context, db: counted.db }).deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 200);
    assert.equal(new Set(endpoint.received().map(({ headers }) => headers['webhook-id'])).size, 200);
    // A claim returns at least half of the endpoint's concurrency, four at first.
    assert.ok(counted.of('webhook_deliveries_claim_own') <= 55, String(counted.of('webhook_deliveries_claim_own')));
    assert.ok(counted.of('webhook_deliveries_mark_delivered') < 200);
  });

  it('whose receiver suddenly hangs holds only the requests under way; the rest is put back', async () => {
    const open: ServerResponse[] = [];
    const endpoint = await world.endpointAt();
    for (let count = 0; count < 20; count += 1) await world.append();
    await world.deliver();
    world.receiver.respond(endpoint.path, (response) => open.push(response));
    for (let count = 0; count < 60; count += 1) await world.append();
    const delivered = world.deliver();
    await eventually('eight hang', () => open.length === 8);
    const claimed = async (): Promise<number> => {
      const rows = await listDeliveries(world);
      return rows.filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt > world.clock.now()).length;
    };
    await eventually('some are prefetched', async () => (await claimed()) > 8);
    for (let second = 0; second < 4; second += 1) await world.clock.advance(1_000);
    await eventually('prefetched deliveries are put back', async () => (await claimed()) === 8);
    const unsent = (await listDeliveries(world)).filter(
      ({ status, attempts }) => status === 'pending' && attempts === 0n,
    );
    assert.equal(unsent.length, 52, 'a delivery that was not sent has cost no attempt');
    assert.equal(open.length, 8);
    world.receiver.respond(endpoint.path, answering(200));
    for (const response of open) response.writeHead(200).end();
    await delivered;
    assert.equal(endpoint.received().length, 80);
  });

  it('sends prefetched deliveries once, also when the clock is set back meanwhile', async () => {
    const open: ServerResponse[] = [];
    const endpoint = await world.endpointAt();
    for (let count = 0; count < 20; count += 1) await world.append();
    await world.deliver();
    world.receiver.respond(endpoint.path, (response) => open.push(response));
    const claimed = async (): Promise<number> => {
      const rows = await listDeliveries(world);
      return rows.filter(({ status, attempts }) => status === 'pending' && attempts === 1n).length;
    };
    for (let count = 0; count < 13; count += 1) await world.append();
    const delivered = world.deliver();
    await eventually('eight hang, five are prefetched', async () => open.length === 8 && (await claimed()) === 13);
    await world.clock.jump(-10_000);
    for (let count = 0; count < 5; count += 1) await world.append();
    await eventually('five more are prefetched', async () => (await claimed()) === 18);
    for (let second = 0; second < 3; second += 1) await world.clock.advance(1_000);
    assert.equal(open.length, 8);
    world.receiver.respond(endpoint.path, answering(200));
    for (const response of open) response.writeHead(200).end();
    await delivered;
    const ids = endpoint.received().map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([ids.length, new Set(ids).size], [38, 38]);
    const rows = (await listDeliveries(world)).filter(({ endpointId }) => endpointId === endpoint.id);
    assert.ok(rows.every(({ status, attempts }) => status === 'delivered' && attempts === 1n));
  });

  it('has its prefetched deliveries put back at once when its worker stops', async () => {
    const open: ServerResponse[] = [];
    const endpoint = await world.endpointAt();
    const worker = createDeliveryWorker(world.context);
    for (let count = 0; count < 20; count += 1) await world.append();
    await worker.deliver(world.caller.merchantId);
    world.receiver.respond(endpoint.path, (response) => open.push(response));
    for (let count = 0; count < 30; count += 1) await world.append();
    const delivered = worker.deliver(world.caller.merchantId);
    await eventually('eight hang', () => open.length === 8);
    const stopped = worker.stop();
    for (const response of open) response.writeHead(200).end();
    await Promise.all([stopped, delivered]);
    assert.equal(open.length, 8);
    world.receiver.respond(endpoint.path, answering(200));
    await world.deliver();
    const rows = (await listDeliveries(world)).filter(({ endpointId }) => endpointId === endpoint.id);
    assert.deepEqual([rows.length, new Set(rows.map(({ status }) => status)).size], [50, 1]);
    assert.ok(rows.every(({ attempts }) => attempts === 1n));
    assert.equal(endpoint.received().length, 50);
  });

  it('claims nothing while all requests that it may have under way hang, however many events come', async () => {
    const open: ServerResponse[] = [];
    const hangs = await world.endpointAt((response) => open.push(response));
    for (let count = 0; count < 10; count += 1) await world.append();
    const counted = countStatements(world.db);
    const worker = createDeliveryWorker({ ...world.context, db: counted.db });
    const delivered = worker.deliver(world.caller.merchantId);
    await eventually('four hang', () => open.length === 4);
    world.scheduled.length = 0;
    const appendOne = async (): Promise<void> => {
      await world.append();
      worker.scheduleDeliveries(world.scheduled.splice(0));
    };
    const claims = (): number => counted.of('webhook_targets_find');
    const before = claims();
    for (let count = 0; count < 20; count += 1) await appendOne();
    assert.equal(claims(), before, 'no claim for 20 events');
    for (let count = 0; count < 50; count += 1) worker.schedule(`${world.caller.merchantId}/${hangs.id}`);
    assert.equal(claims(), before, 'no claim for 50 hints');
    // A delivery to another endpoint of the merchant is sent at once.
    const healthy = await world.endpointAt();
    await appendOne();
    await eventually('the other one has it', () => healthy.received().length === 1);
    world.receiver.respond(hangs.path, answering(200));
    for (const response of open) response.writeHead(200).end();
    await delivered;
    assert.equal(hangs.received().length, 31);
  });
});
