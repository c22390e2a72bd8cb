import { completionPoints, deliveryPoints, planPoints, sendPoints } from '../harness/crash-paths.ts';
import { since } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, verifyTransfer } from '../harness/crash-transfer.ts';

testCrashStory({
  title: 'while it delivers the event of a paid transfer',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('ledger_holds_close:after-commit', [...planPoints, ...deliveryPoints]),
  coveredElsewhere: [...sendPoints, ...completionPoints],
});
