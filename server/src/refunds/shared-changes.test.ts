import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { createRefundWorld, paidBack, reversedPayout, type RefundWorld } from './refund-world.corpus.ts';

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

after(async () => {
  await world.verify();
  await world.close();
});

test('a refund and its payment that change at once are both as they ended, whichever came first', async () => {
  for (const isRefundFirst of [true, false]) {
    const charge = await world.collect();
    const refund = await world.refundReported(charge, paidBack, 4_000n);
    const changes = [
      () => world.report(refund, reversedPayout(refund)),
      () => applyResponse(world.context, charge, succeeded(charge, { transactionId: `again-${charge.id}` })),
    ];
    if (!isRefundFirst) changes.reverse();
    await together(...changes);
    const changed = await world.charge(charge);
    assert.deepEqual([changed.amountRefundedMinor, changed.review], [0n, 'second_success']);
    await world.refundReported(charge, paidBack);
    assert.equal((await world.charge(charge)).status, 'refunded');
  }
});

/** Has changes wait for another one of the merchant, in this order, so that those which may share a transaction do. */
async function together(...changes: (() => Promise<unknown>)[]): Promise<void> {
  const { sharedCommits } = world.context;
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const blocking = sharedCommits.run(world.merchant.id, () => isReleased, { row: 'another' });
  const running: Promise<unknown>[] = [];
  for (const change of changes) {
    const before = sharedCommits.waiting;
    let hasEnded = false;
    running.push(change().finally(() => (hasEnded = true)));
    await eventually('the change waits or has ended', () => hasEnded || sharedCommits.waiting > before);
  }
  release();
  await Promise.all([blocking, ...running]);
}
