import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { applyResponse } from './apply-response.ts';
import { createTransferWorld, paid, processing, refused, type TransferWorld } from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld();
});

after(async () => {
  await world.verify();
  await world.close();
});

test('late payouts that are reported at once leave no debt while the balance covers them', async () => {
  const late = [];
  for (let count = 0; count < 8; count += 1) late.push(await world.createSent(processing));
  await world.create({ amountMinor: await world.balance('payable_available') });
  // What is returned is all that the merchant has.
  for (const transfer of late) await applyResponse(world.context, transfer, refused);
  const before = await world.balance('payable_available');
  const { sharedCommits } = world.context;
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const blocking = sharedCommits.run(world.merchant.id, () => isReleased, { row: 'another' });
  const applied = late.map((transfer) => applyResponse(world.context, transfer, paid(transfer)));
  await eventually('all wait for one transaction', () => sharedCommits.waiting === late.length);
  release();
  await Promise.all([blocking, ...applied]);
  const total = late.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  assert.deepEqual(
    [await world.balance('payable_available'), await world.balance('receivable_merchant')],
    [before - total, 0n],
  );
  assert.equal(world.context.sharedCommits.splits, 0);
});
