import { completionPoints, deliveryPoints, dispatchPoints, sendPoints, unheardPoints } from '../harness/crash-paths.ts';
import { commit, inLongRun, since, wait, write } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { order, verifyTransfer } from '../harness/crash-transfer.ts';
import { countWhere } from '../harness/crash-world.ts';

// Pending at first; the network reports two seconds later that it has paid.
const later = '7000009';
const reportAfterMs = 2_000;
const told = [...dispatchPoints, ...deliveryPoints, ...unheardPoints];

testCrashStory({
  title: 'while it notes that the network is going to pay',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await order(world, { to: later });
  },
  isDone: async (world) => (await countWhere(world, `transfer_notes WHERE kind = 'accepted_by_network'`)) === 1,
  verify: (world) => verifyTransfer(world, { status: 'completed', to: later }),
  points: since('payouts-call:answered', [
    ...wait('transfers_lock', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
  elsewhere: [...sendPoints, ...told],
});

testCrashStory({
  title: 'while it stores what a network reports',
  role: 'api',
  prepare: async (world) => {
    await world.start('api');
    await order(world, { to: later });
    await world.work();
  },
  provoke: async (world, url) => {
    world.front.leadTo(url);
    world.pass(reportAfterMs);
    await world.report();
  },
  verify: (world) => verifyTransfer(world, { status: 'completed', to: later }),
  points: [
    { at: 'POST /networks/aps-test/callbacks:arrived' },
    ...write('network_inbox_insert'),
    { at: 'POST /networks/aps-test/callbacks:answered' },
  ],
});

testCrashStory({
  title: 'while it handles what a network has reported',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await order(world, { to: later });
    await world.work();
    world.pass(reportAfterMs);
    await world.report();
  },
  verify: (world) => verifyTransfer(world, { status: 'completed', to: later }),
  points: [
    ...write('network_inbox_claim'),
    ...wait(
      'merchants_find_by_short_id',
      'transfers_find_by_reference',
      'merchants_find_by_id',
      'circuit_breakers_list',
    ),
    ...inLongRun(completionPoints),
    ...write('network_inbox_update'),
  ],
  elsewhere: told,
});
