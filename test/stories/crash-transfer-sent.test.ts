import {
  completionPoints,
  deliveryPoints,
  dispatchPoints,
  sendPoints,
  unsubscribedPoints,
} from '../harness/crash-paths.ts';
import { commit, since, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, verifyTransfer } from '../harness/crash-transfer.ts';

const merchantEventPoints = [...dispatchPoints, ...deliveryPoints];

testCrashStory({
  title: 'while it sends a transfer that its network pays',
  role: 'worker',
  prepare: async (world, round) => {
    await world.start('api');
    // So that it is left to the look-up; in every other round of the long run reports come beside it.
    if (round % 2 === 0) await world.dropCallbacks();
    await requestTransfer(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  // The last: nobody has subscribed to the event of the acceptance.
  points: [...sendPoints, ...completionPoints, ...unsubscribedPoints],
  coveredElsewhere: merchantEventPoints,
});

const refusedNumber = '7000002';

testCrashStory({
  title: 'while it gives back the money of a transfer that its network refuses',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world, { to: refusedNumber });
  },
  verify: (world) => verifyTransfer(world, { status: 'failed', accountNumber: refusedNumber }),
  points: since('payouts-call:sent', [
    { step: 'payouts-call:answered' },
    ...statements('ledger_holds_close', 'ledger_movements_held_from', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
  coveredElsewhere: [...sendPoints, ...merchantEventPoints, ...unsubscribedPoints],
});
