import { completionPoints, deliveryPoints, dispatchPoints, sendPoints, unheardPoints } from '../harness/crash-paths.ts';
import { commit, since, wait } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { order, verifyTransfer } from '../harness/crash-transfer.ts';

const told = [...dispatchPoints, ...deliveryPoints];

testCrashStory({
  title: 'while it sends a transfer that its network pays',
  role: 'worker',
  prepare: async (world, round) => {
    await world.start('api');
    // So that it is left to the look-up; in every other round of the long run reports come beside it.
    if (round % 2 === 0) await world.loseReports();
    await order(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  // The last: nobody has subscribed to the event of the acceptance.
  points: [...sendPoints, ...completionPoints, ...unheardPoints],
  elsewhere: told,
});

const refused = '7000002';

testCrashStory({
  title: 'while it gives back the money of a transfer that its network refuses',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.loseReports();
    await order(world, { to: refused });
  },
  verify: (world) => verifyTransfer(world, { status: 'failed', to: refused }),
  points: since('payouts-call:sent', [
    { at: 'payouts-call:answered' },
    ...wait('ledger_holds_close', 'ledger_movements_held_from', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
  elsewhere: [...sendPoints, ...told, ...unheardPoints],
});
