import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addMs } from '../kit/clock.ts';
import type { Statement } from '../kit/db.ts';
import { claimDeliveries, markAttemptsFailed, markDelivered, putBackDeliveries } from './queries/deliveries.ts';
import { resendEvent } from './resend-event.ts';
import { resendEvents } from './resend-events.ts';
import { createDeliveryWorld, type DeliveryWorld } from './webhook-world.corpus.ts';

let world: DeliveryWorld;
before(async () => {
  world = await createDeliveryWorld();
});
after(() => world.close());

describe('a kept event that is resent while its last attempt is still under way', () => {
  /** Claimed, then kept because the endpoint is disabled, then resent once it is enabled again. */
  async function resendInFlight() {
    const { id: endpointId } = await world.endpointAt();
    const eventId = await world.append();
    const { merchantId } = world.caller;
    const now = world.clock.now();
    const claim = { merchantId, endpointId, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 1 };
    const [claimed] = await claimDeliveries(world.db, claim);
    assert.ok(claimed);
    await world.changeEndpoint(endpointId, { status: 'disabled' });
    await world.changeEndpoint(endpointId, { status: 'enabled' });
    await world.change((tx) => resendEvent(tx, world.context, merchantId, { id: eventId, endpointId }));
    const nextTry = async () => (await claimDeliveries(world.db, claim))[0]?.tryNumber;
    return { merchantId, claimed, now, nextTry };
  }

  const ends: [string, (merchantId: string, claimed: { id: string; attempt: bigint }, now: Date) => Statement][] = [
    [
      'fails for the last time',
      (merchantId, claimed) => markAttemptsFailed(merchantId, [{ ...claimed, status: 'failed', nextAttemptAt: null }]),
    ],
    [
      'fails and would wait',
      (merchantId, claimed, now) =>
        markAttemptsFailed(merchantId, [{ ...claimed, status: 'pending', nextAttemptAt: addMs(now, 60_000) }]),
    ],
    ['succeeds', (merchantId, claimed, now) => markDelivered(merchantId, [{ ...claimed, deliveredAt: now }])],
    ['is put back', (merchantId, claimed, now) => putBackDeliveries(merchantId, [claimed], now)],
  ];
  for (const [end, statement] of ends) {
    it(`is sent, with the retry schedule from its start, when that attempt ${end}`, async () => {
      const { merchantId, claimed, now, nextTry } = await resendInFlight();
      await world.db.run(statement(merchantId, claimed, now));
      assert.equal(await nextTry(), 1n);
    });
  }
});

describe('while many events are resent to an endpoint', () => {
  it('other endpoints can be changed, and that one once all are due', async () => {
    const [one, other] = [await world.endpointAt(), await world.endpointAt()];
    const request = { endpointId: one.id, status: 'all', isDryRun: false } as const;
    let changed: Promise<string> | undefined;
    await world.change(async (tx) => {
      await resendEvents(tx, world.context, world.caller.merchantId, request);
      await world.changeEndpoint(other.id, { description: 'changed' });
      changed = world.changeEndpoint(one.id, { status: 'disabled' }).then(
        () => 'changed',
        (error: unknown) => String(error),
      );
      assert.equal(await Promise.race([changed, world.changeEndpoint(other.id, {}).then(() => 'waits')]), 'waits');
    });
    assert.equal(await changed, 'changed');
  });

  it('deliveries that are due or under way there can be claimed and recorded', async () => {
    const { id: endpointId } = await world.endpointAt();
    await world.clock.advance(60_000);
    for (let count = 0; count < 3; count += 1) await world.append();
    const { merchantId } = world.caller;
    const now = world.clock.now();
    const claim = { merchantId, endpointId, now, leaseEndsAt: addMs(now, 30_000), rowsMax: 1 };
    const [underWay] = await claimDeliveries(world.db, claim);
    assert.ok(underWay);
    const request = { endpointId, status: 'all', isDryRun: false } as const;
    await world.change(async (tx) => {
      assert.equal((await resendEvents(tx, world.context, merchantId, { ...request, from: now })).resent, 0);
      assert.equal((await claimDeliveries(world.db, { ...claim, rowsMax: 8 })).length, 2);
      assert.equal(await world.db.run(markDelivered(merchantId, [{ ...underWay, deliveredAt: now }])), 1);
    });
  });
});
