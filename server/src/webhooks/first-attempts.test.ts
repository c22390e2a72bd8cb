import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { appendEvent } from '../events/append-event.ts';
import { deliveryLeaseMs } from './delivery.ts';
import { endSecretOverlap, rotateSecret } from './rotate-secret.ts';
import {
  answering,
  countStatements,
  createDeliveryWorker,
  createDeliveryWorld,
  type DeliveryWorld,
} from './webhook-world.corpus.ts';

describe('an event of a process that sends events', () => {
  let world: DeliveryWorld;
  let worker: ReturnType<typeof createDeliveryWorker>;
  let counted: ReturnType<typeof countStatements>;

  before(async () => {
    world = await createDeliveryWorld();
  });
  beforeEach(() => {
    counted = countStatements(world.db);
    worker = createDeliveryWorker({ ...world.context, db: counted.db });
    world.planner.sendFirstBy(worker.firstAttempts);
    world.scheduled.length = 0;
  });
  afterEach(async () => {
    await worker.stop();
    await world.retireAll();
  });
  after(() => world.close());

  const claims = (): number => counted.of('webhook_deliveries_claim_own');

  it('is sent from memory after its commit, without a claim, and recorded as one that was claimed', async () => {
    const endpoint = await world.endpointAt();
    const id = await world.append();
    await eventually('it is recorded', () => worker.isIdle());
    const [request] = endpoint.received();
    assert.equal(request?.headers['webhook-id'], id);
    const { status, attempts, nextAttemptAt } = await world.deliveryOf(id);
    assert.deepEqual([status, attempts, nextAttemptAt], ['delivered', 1n, null]);
    assert.deepEqual(
      (await world.attemptsOf(id)).map(({ attempt, statusCode }) => [attempt, statusCode]),
      [[1n, 200n]],
    );
    assert.deepEqual([claims(), world.scheduled], [0, []]);
  });

  it('has the same body as one that is read from the database', async () => {
    const endpoint = await world.endpointAt((response) => response.writeHead(500).end());
    const id = await world.append();
    await eventually('the first attempt is recorded', () => worker.isIdle());
    await world.clock.advance(60_000);
    await worker.deliver(world.caller.merchantId);
    const [first, second] = endpoint.received();
    assert.equal(second?.headers['webhook-id'], id);
    assert.deepEqual(first?.body, second?.body);
    assert.equal((await world.deliveryOf(id)).attempts, 2n);
  });

  it('is signed as the endpoint is now, also right after a rotation and right after the end of an overlap', async () => {
    const { id, received } = await world.endpointAt();
    const send = async () => {
      await world.append();
      await eventually('it is recorded', () => worker.isIdle());
      const { headers, body } = received().at(-1) ?? assert.fail('it is sent');
      const signatures = String(headers['webhook-signature']).split(' ').length;
      return { signature: headers['x-service-signature'], signatures, body };
    };
    const rotate = (overlapHours: number) =>
      world.change((tx) => rotateSecret(tx, world.context, world.caller, { id, overlapHours }));
    await send();
    const { secret } = await rotate(0);
    const atOnce = await send();
    assert.equal(atOnce.signature, createHmac('sha512', secret).update(atOnce.body).digest('hex'));
    const rotated = await rotate(1);
    assert.equal((await send()).signatures, 2);
    await world.change((tx) => endSecretOverlap(tx, world.context, world.caller, id));
    const ended = await send();
    assert.equal(ended.signatures, 1);
    assert.equal(ended.signature, createHmac('sha512', rotated.secret).update(ended.body).digest('hex'));
  });

  it('is not sent where its transaction is rolled back', async () => {
    const endpoint = await world.endpointAt();
    const { context, caller } = world;
    const record = { id: context.newId() };
    const failed = world.change(async (tx) => {
      const event = { kind: 'charge.succeeded', objectId: record.id, sequence: 1n, record, callbackUrl: null } as const;
      appendEvent(tx, context, { ...event, merchantId: caller.merchantId });
      tx.beforeCommit(() => Promise.reject(new Error('refused')));
    });
    await assert.rejects(failed, /refused/);
    const id = await world.append();
    await eventually('the next one is recorded', () => worker.isIdle());
    assert.deepEqual(
      endpoint.received().map(({ headers }) => headers['webhook-id']),
      [id],
    );
  });

  it('is sent by another process after the lease, if its own dies after the commit', async () => {
    const endpoint = await world.endpointAt();
    world.planner.sendFirstBy({ room: () => 1, send: () => {} });
    const id = await world.append();
    await world.clock.advance(deliveryLeaseMs - 1);
    await worker.deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 0);
    await world.clock.advance(1);
    await worker.deliver(world.caller.merchantId);
    assert.deepEqual(
      endpoint.received().map(({ headers }) => headers['webhook-id']),
      [id],
    );
  });

  it('waits in the database, due at once, while its endpoint hangs', async () => {
    const open: ServerResponse[] = [];
    const endpoint = await world.endpointAt((response) => open.push(response));
    for (let count = 0; count < 30; count += 1) await world.append();
    await eventually('four hang', () => open.length === 4);
    const now = world.clock.now();
    const isDue = async (id: string): Promise<boolean> => {
      const { attempts, nextAttemptAt } = await world.deliveryOf(id);
      return attempts === 0n && nextAttemptAt?.getTime() === now.getTime();
    };
    assert.ok(await isDue(await world.append()));
    world.receiver.respond(endpoint.path, answering(200));
    for (const response of open) response.writeHead(200).end();
    await worker.deliver(world.caller.merchantId);
    const ids = endpoint.received().map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([ids.length, new Set(ids).size], [31, 31]);
  });

  it('is due at once where the worker has stopped, also where it stopped before the commit', async () => {
    await world.endpointAt();
    const { firstAttempts } = worker;
    await worker.stop();
    const later = await world.deliveryOf(await world.append());
    world.planner.sendFirstBy({ room: () => 1, send: (key, deliveries) => firstAttempts.send(key, deliveries) });
    const id = await world.append();
    await eventually('it is put back', async () => (await world.deliveryOf(id)).attempts === 0n);
    const before = await world.deliveryOf(id);
    for (const { status, nextAttemptAt } of [before, later]) {
      assert.deepEqual([status, nextAttemptAt], ['pending', world.clock.now()]);
    }
  });
});
