import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noteTransfer } from './notes.ts';
import { transferTimeline } from './timeline.ts';
import { createTransferWorld, taken } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld();
});

after(() => world.close());

// As many as a network makes that is away for five hours and tried once a minute.
const earlierNotes = 600;

test('the timeline shows how a transfer ended, however long it had waited', async () => {
  const order = await world.create();
  await world.db.withTransaction((tx) => {
    for (let count = 0; count < earlierNotes; count += 1) {
      noteTransfer(tx, world.context, order, 'waiting', 'The network takes no payouts just now.');
    }
    return Promise.resolve();
  });
  world.networks.wave.payoutResponses.pay_out = taken;
  await world.clock.advance(1_000);
  await world.work();
  const reported = await transferTimeline(world.db, await world.transfer(order));
  assert.deepEqual(
    reported.map(({ kind }) => kind).filter((kind) => kind !== 'waiting'),
    ['transfer.created', 'sent_to_network', 'accepted_by_network'],
  );
  assert.equal(reported.at(-1)?.['kind'], 'accepted_by_network');
});
