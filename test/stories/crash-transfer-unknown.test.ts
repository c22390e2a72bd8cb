import { completionPoints, deliveryPoints, dispatchPoints, sendPoints, unheardPoints } from '../harness/crash-paths.ts';
import { call, commit, inLongRun, since, wait, write } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { order, verifyTransfer } from '../harness/crash-transfer.ts';
import type { CrashWorld } from '../harness/crash-world.ts';
import { countWhere } from '../harness/crash-world.ts';

const told = [...dispatchPoints, ...deliveryPoints, ...unheardPoints];
const minuteMs = 61_000;

/** The order is marked as sent, and no answer came. Whether the network has paid follows from where the call led. */
async function sendIntoTheDark(world: CrashWorld, lose: (world: CrashWorld) => void): Promise<void> {
  await world.start('api');
  await world.loseReports();
  await order(world);
  lose(world);
  await world.work();
  world.front.loseAnswers(false);
  world.front.leadTo(world.apiUrl);
  world.pass(minuteMs);
}

testCrashStory({
  title: 'after a call whose answer got lost',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.loseReports();
    await order(world);
    world.front.loseAnswers(true);
  },
  isDone: async (world) => (await countWhere(world, `transfer_notes WHERE kind = 'no_clear_answer'`)) === 1,
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('payouts-call:sent', [
    ...wait('circuit_breakers_find'),
    ...write('circuit_breakers_insert_once'),
    ...commit('transfer_notes_insert'),
  ]),
  elsewhere: [...sendPoints, ...told],
});

const lookUpPoints = [
  ...write('outbox_claim'),
  ...wait('transfers_find_by_id', 'merchants_find_by_id'),
  ...call('payouts-look-up'),
  ...wait('circuit_breakers_list'),
];

testCrashStory({
  title: 'while it finds out that the network has paid',
  role: 'worker',
  prepare: (world) => sendIntoTheDark(world, ({ front }) => front.loseAnswers(true)),
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: [...lookUpPoints, ...inLongRun(completionPoints), ...write('outbox_delete')],
  elsewhere: told,
});

testCrashStory({
  title: 'while it finds out that the order never arrived, and sends it again',
  role: 'worker',
  prepare: (world) => sendIntoTheDark(world, ({ front }) => front.leadTo(null)),
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('payouts-look-up:answered', [
    ...wait('transfers_lock'),
    ...commit('outbox_upsert'),
    ...write('outbox_postpone'),
    ...write('outbox_claim'),
    ...commit('transfers_update'),
    ...call('payouts-call'),
    ...wait('circuit_breakers_find'),
    ...write('circuit_breakers_update'),
    ...inLongRun([...write('network_receipts_insert_once'), ...commit('ledger_holds_close')]),
  ]),
  elsewhere: [...lookUpPoints, ...sendPoints, ...completionPoints, ...told],
});
