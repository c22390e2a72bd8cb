import { completionPoints, deliveryPoints, dispatchPoints, sendPoints, unheardPoints } from '../harness/crash-paths.ts';
import { since } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { order, verifyTransfer } from '../harness/crash-transfer.ts';

testCrashStory({
  title: 'while it tells the merchant that a transfer is paid',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.loseReports();
    await order(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('ledger_holds_close:after-commit', [...dispatchPoints, ...deliveryPoints]),
  elsewhere: [...sendPoints, ...completionPoints, ...unheardPoints],
});
