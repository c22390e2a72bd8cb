import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withAdminClient } from '../database/admin-client.ts';
import { createTransferWorld, paid, processing, type TransferWorld } from './transfer-world.corpus.ts';
import { listVerifications } from '../ledger/verifications.ts';
import { verifyNightly } from './verify-books.ts';
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

test('the books are verified once a night, by one of two processes, and a wrong one is logged as an error', async () => {
  const { context, clock, db, logged } = world;
  const history = async (): Promise<string[]> =>
    (await listVerifications(db, 10)).map(
      ({ verifiedAt, isCorrect }) => `${verifiedAt.toISOString().slice(5, 16)} ${isCorrect ? 'right' : 'wrong'}`,
    );
  const night = async (): Promise<number> => {
    const done = await Promise.all([verifyNightly(context), verifyNightly(context)]);
    return done.reduce((sum, count) => sum + count, 0);
  };
  const to = (time: string): Promise<void> => clock.advance(new Date(time).getTime() - clock.now().getTime());
  await to('2030-01-10T12:00:00Z');
  assert.equal(await night(), 1, 'a new installation at once');
  await to('2030-01-11T01:59:00Z');
  assert.equal(await night(), 0);
  await to('2030-01-11T02:00:00Z');
  assert.equal(await night(), 1);
  assert.equal(await verifyNightly(context), 0, 'not twice a night');
  const { id } = await world.create();
  await asOwner("UPDATE transfers SET status = 'failed' WHERE id = $1", id);
  await to('2030-01-12T09:00:00Z');
  assert.equal(await night(), 1, 'a night on which no worker ran is made up for');
  await asOwner("UPDATE transfers SET status = 'pending' WHERE id = $1", id);
  assert.deepEqual(await history(), ['01-12T09:00 wrong', '01-11T02:00 right', '01-10T12:00 right']);
  const errors = logged.filter((line) => line.includes('"level":"error"'));
  assert.equal(errors.length, 1);
  assert.match(errors[0] ?? '', new RegExp(`transfer ${id}: D100.00 is held.*the ledger is WRONG`));
});
