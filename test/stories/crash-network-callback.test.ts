import { completionPoints, deliveryPoints, planPoints, lookUpPoints, sendPoints } from '../harness/crash-paths.ts';
import { commit, inLongRun, since, statements, autocommit } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, verifyTransfer } from '../harness/crash-transfer.ts';
import { countWhere } from '../harness/crash-world.ts';

// Pending at first; two seconds later the network reports that it has paid.
const delayedNumber = '7000009';
const reportAfterMs = 2_000;
const merchantEventPoints = [...planPoints, ...deliveryPoints];

testCrashStory({
  title: 'while it records that the payout is pending at the network',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await requestTransfer(world, { to: delayedNumber });
  },
  isDone: async (world) => (await countWhere(world, `transfer_notes WHERE kind = 'accepted_by_network'`)) === 1,
  verify: (world) => verifyTransfer(world, { status: 'completed', accountNumber: delayedNumber }),
  points: since('payouts-call:responded', [
    ...statements('transfers_lock', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
  coveredElsewhere: [...sendPoints, ...merchantEventPoints],
});

testCrashStory({
  title: 'while it stores a network’s callback',
  role: 'api',
  prepare: async (world) => {
    await world.start('api');
    await requestTransfer(world, { to: delayedNumber });
    await world.runWorker();
  },
  trigger: async (world, url) => {
    world.proxy.routeTo(url);
    world.advance(reportAfterMs);
    await world.sendCallbacks();
  },
  verify: (world) => verifyTransfer(world, { status: 'completed', accountNumber: delayedNumber }),
  points: [
    { step: 'PUT /networks/gsma-test/callbacks:arrived' },
    ...statements('merchants_find_by_short_id', 'transfers_find_by_reference'),
    ...autocommit('network_inbox_upsert_hint'),
    { step: 'PUT /networks/gsma-test/callbacks:responded' },
  ],
});

testCrashStory({
  title: 'while it handles a stored callback',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await requestTransfer(world, { to: delayedNumber });
    await world.runWorker();
    world.advance(reportAfterMs);
    await world.sendCallbacks();
  },
  verify: (world) => verifyTransfer(world, { status: 'completed', accountNumber: delayedNumber }),
  points: [
    ...autocommit('network_inbox_claim'),
    ...statements('merchants_find_by_short_id', 'transfers_find_by_reference', 'merchants_find_by_id'),
    ...statements('transfers_lock'),
    ...commit('outbox_upsert'),
    ...autocommit('network_inbox_update'),
    ...inLongRun([...lookUpPoints, ...completionPoints, ...autocommit('outbox_delete')]),
  ],
  coveredElsewhere: merchantEventPoints,
});
