import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { createDeliveryWorker, createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

const minuteMs = 60_000;

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());
afterEach(() => world.retireAll());

/** Appends an event whose delivery becomes visible this long after it fell due, as that of a slow transaction. */
async function appendLate(lateByMs: number): Promise<void> {
  const eventId = await world.append();
  await world.db.run({
    name: 'test_due_earlier',
    text: 'UPDATE webhook_deliveries SET next_attempt_at = $3 WHERE merchant_id = $1 AND event_id = $2',
    values: [world.caller.merchantId, eventId, addMs(world.clock.now(), -lateByMs)],
  });
}

describe('deliveries that are due earlier than what was claimed last', () => {
  it('are sent within 64 sweeps, the first of a worker finds all', async () => {
    const endpoint = await world.endpointAt();
    await world.append();
    await world.deliver();
    await appendLate(minuteMs);
    for (let sweep = 0; sweep < 64; sweep += 1) await world.deliver();
    assert.equal(endpoint.received().length, 2);
    await appendLate(minuteMs);
    await createDeliveryWorker(world.context).deliver(world.caller.merchantId);
    assert.equal(endpoint.received().length, 3);
  });

  it('are sent at once when they became visible within ten seconds', async () => {
    const endpoint = await world.endpointAt();
    await world.append();
    await world.deliver();
    await appendLate(9_000);
    await world.deliver();
    assert.equal(endpoint.received().length, 2);
  });

  it('are sent by the next sweep when their claim failed', async () => {
    const endpoint = await world.endpointAt();
    let isLost = true;
    const db: Database = {
      row: (statement) => world.db.row(statement),
      run: (statement) => world.db.run(statement),
      withTransaction: (body) => world.db.withTransaction(body),
      dedicatedClient: () => world.db.dedicatedClient(),
      waiting: 0,
      close: () => world.db.close(),
      rows: (statement) => {
        if (isLost && /deliveries_claim/.test(statement.name))
          return Promise.reject(new Error('the connection was lost'));
        return world.db.rows(statement);
      },
    };
    const worker = createDeliveryWorker({ ...world.context, db });
    await world.append();
    for (let sweep = 0; sweep < 2; sweep += 1) {
      await assert.rejects(worker.deliver(world.caller.merchantId), /the connection was lost/);
      await world.clock.advance(minuteMs);
    }
    isLost = false;
    for (const key of await worker.listDueKeys()) worker.schedule(key);
    await eventually('it is sent', () => endpoint.received().length === 1);
    await worker.stop();
  });
});

test('a delivery whose claim PostgreSQL lost in a crash is sent once more, and is delivered then', async () => {
  let eventId = '';
  const losesClaim = [true];
  const endpoint = await world.endpointAt((response) => {
    const lost = losesClaim.pop() === true ? takeClaimBack(eventId) : Promise.resolve();
    void lost.then(() => response.end());
  });
  eventId = await world.append();
  await world.deliver();
  assert.equal(endpoint.received().length, 2);
  const { status, attempts } = await world.deliveryOf(eventId);
  assert.deepEqual({ status, attempts }, { status: 'delivered', attempts: 1n });
  assert.equal((await world.attemptsOf(eventId)).length, 1);
});

/** As a crash of the server does before the disk has the claim. */
async function takeClaimBack(eventId: string): Promise<void> {
  await world.db.run({
    name: 'test_take_claim_back',
    text: 'UPDATE webhook_deliveries SET attempts = attempts - 1, next_attempt_at = $3 WHERE merchant_id = $1 AND event_id = $2',
    values: [world.caller.merchantId, eventId, world.clock.now()],
  });
}
