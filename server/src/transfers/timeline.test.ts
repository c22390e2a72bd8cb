import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noteTransfer, transferTimeline } from './timeline.ts';
import { createTransferWorld, processing, type TransferWorld } from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld();
});

after(() => world.close());

// As many as a network causes that is down for five hours, with a trial each minute.
const earlierNotes = 600;

test('the timeline shows how a transfer ended, however long it had waited', async () => {
  const transfer = await world.create();
  await world.db.withTransaction((tx) => {
    for (let count = 0; count < earlierNotes; count += 1) {
      noteTransfer(tx, world.context, transfer, 'waiting', 'The network takes no payouts just now.');
    }
    return Promise.resolve();
  });
  world.networks.wave.payoutResponses.pay_out = processing;
  await world.clock.advance(1_000);
  await world.work();
  const reported = await transferTimeline(world.db, await world.transfer(transfer));
  assert.deepEqual(
    reported.map(({ kind }) => kind).filter((kind) => kind !== 'waiting'),
    ['transfer.created', 'sent_to_network', 'accepted_by_network'],
  );
  assert.equal(reported.at(-1)?.['kind'], 'accepted_by_network');
});
