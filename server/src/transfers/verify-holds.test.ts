import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../database/admin-client.ts';
import { createTransferWorld, paid, processing } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';
import { verifyHolds } from './verify-holds.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld();
});

after(() => world.close());

async function asOwner(text: string, id: string): Promise<void> {
  await withAdminClient(world.adminUrl, (client) => client.query(text, [id]));
}

test('holds that match the pending transfers have no finding, whatever the outcome of others', async () => {
  const done = await world.createSent(processing);
  await world.jobs.applyNotification('rail-wave', {
    operation: 'payout',
    reference: done.reference,
    response: paid(done),
  });
  const wrong = await world.createSent(processing);
  const response = paid(wrong, { amountMinor: 9_000n });
  await world.jobs.applyNotification('rail-wave', { operation: 'payout', reference: wrong.reference, response });
  await world.cancel(await world.create());
  await world.create();
  assert.equal(await verifyHolds(world.db), null);
});

test('a pending transfer whose money is no longer held is found', async () => {
  const { id } = await world.create();
  await asOwner("UPDATE ledger_holds SET status = 'released' WHERE source_id = $1", id);
  const { message } = (await verifyHolds(world.db)) ?? {};
  assert.equal(message, `transfer ${id}: nothing is held, but D100.00 must be held`);
  await asOwner("UPDATE ledger_holds SET status = 'open' WHERE source_id = $1", id);
});

test('money held for a transfer that has ended is found', async () => {
  const { id } = await world.create();
  await asOwner("UPDATE transfers SET status = 'failed' WHERE id = $1", id);
  const { message } = (await verifyHolds(world.db)) ?? {};
  assert.equal(message, `transfer ${id}: D100.00 is held, but it is not under way`);
  await asOwner("UPDATE transfers SET status = 'pending' WHERE id = $1", id);
});
