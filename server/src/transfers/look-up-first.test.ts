import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { workerQueues } from '../app/work-queues.ts';
import { withLocalChanges } from '../app/local-changes.corpus.ts';
import { createRestoreHold, insertRestore, releaseRestores } from '../backups/hold.ts';
import { createPaymentWorld, type PaymentWorld } from '../payments/payment-world.corpus.ts';
import { startWorker, type Worker } from '../worker/worker.ts';
import { whileNotHeld } from '../worker/while-not-held.ts';
import { createTransfer } from './create-transfer.ts';
import { findTransferById } from './find-transfer.ts';
import { lookUpUnsentTransfers } from './look-up-first.ts';
import type { Transfer } from './transfer.ts';
import { newTransfer, paid } from './transfer-world.corpus.ts';

let world: PaymentWorld;
let worker: Worker;
let context: ReturnType<typeof withLocalChanges>;

// A restored copy with a payout that it has not sent, and its workers.
beforeEach(async () => {
  world = await createPaymentWorld();
  context = withLocalChanges(world.context);
  const { db, clock } = world;
  await db.run(insertRestore({ id: context.newId(), backup: null, restoredAt: clock.now(), restoredTo: null }));
  const hold = createRestoreHold(db, clock);
  worker = startWorker({
    ...context,
    queues: workerQueues(context, { money: context }).map((queue) => whileNotHeld(queue, hold)),
  });
});

afterEach(async () => {
  await worker.stop();
  await world.close();
});

function transfer(): Promise<Transfer> {
  const order = { ...newTransfer, network: 'wave', accountNumber: '7001234' };
  return world.db.withTransaction((tx) => createTransfer(tx, context, world.merchant, order));
}

async function release(): Promise<void> {
  assert.equal(await lookUpUnsentTransfers(context, world.merchant.id), 1);
  assert.equal(await lookUpUnsentTransfers(context, world.merchant.id), 0, 'repeated');
  await world.db.run(releaseRestores(world.clock.now()));
  await world.clock.advance(1_000);
  await worker.drain();
}

const find = (id: string) => findTransferById(world.db, world.merchant.id, id);

test('a held copy calls no network, however long its payout has been due', async () => {
  const { id } = await transfer();
  await worker.drain();
  await world.clock.advance(60_000);
  await worker.drain();
  assert.deepEqual([world.networks.wave.count('pay_out'), world.networks.wave.count('look_up_payout')], [0, 0]);
  assert.equal((await find(id))?.progress, 'created');
});

test('a payout that was sent after the backup is found by a look-up and never sent again', async () => {
  const { wave } = world.networks;
  const sent = await transfer();
  wave.payoutResponses.look_up_payout = paid(sent);
  await release();
  assert.equal((await find(sent.id))?.status, 'completed');
  assert.equal(wave.count('pay_out'), 0);
});

test('a payout that no network knows is sent once, after its earlier request can no longer arrive', async () => {
  const { wave } = world.networks;
  const lost = await transfer();
  wave.payoutResponses.look_up_payout = { state: 'not_found' };
  wave.payoutResponses.pay_out = paid(lost);
  await release();
  assert.equal(wave.count('pay_out'), 0, 'not at once');
  for (let minute = 0; minute < 30 && wave.count('pay_out') === 0; minute += 1) {
    await world.clock.advance(60_000);
    await worker.drain();
  }
  assert.equal(wave.count('pay_out'), 1);
  assert.equal((await find(lost.id))?.status, 'completed');
});
