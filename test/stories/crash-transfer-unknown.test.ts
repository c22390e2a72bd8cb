import { completionPoints, deliveryPoints, planPoints, lookUpPoints, sendPoints } from '../harness/crash-paths.ts';
import { outboundCall, commit, inLongRun, since, statements, autocommit } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, verifyTransfer } from '../harness/crash-transfer.ts';
import { countWhere, type CrashWorld } from '../harness/crash-world.ts';

const merchantEventPoints = [...planPoints, ...deliveryPoints];
const minuteMs = 61_000;

/** Leaves a transfer marked as sent without a response. Whether the network has paid depends on where the call went. */
async function sendWithoutResponse(world: CrashWorld, breakProxy: (world: CrashWorld) => void): Promise<void> {
  await world.start('api');
  await world.dropCallbacks();
  await requestTransfer(world);
  breakProxy(world);
  await world.runWorker();
  world.proxy.dropResponses(false);
  world.proxy.routeTo(world.apiUrl);
  world.advance(minuteMs);
}

testCrashStory({
  title: 'after a call whose response was lost',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world);
    world.proxy.dropResponses(true);
  },
  isDone: async (world) => (await countWhere(world, `transfer_notes WHERE kind = 'no_clear_answer'`)) === 1,
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('payouts-call:sent', [
    ...statements('circuit_breakers_find'),
    ...autocommit('circuit_breakers_insert_once'),
    ...commit('transfer_notes_insert'),
  ]),
  coveredElsewhere: [...sendPoints, ...merchantEventPoints],
});

testCrashStory({
  title: 'while it looks up a transfer that its network paid',
  role: 'worker',
  prepare: (world) => sendWithoutResponse(world, ({ proxy: front }) => front.dropResponses(true)),
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: [
    ...lookUpPoints,
    // It closes or resets the circuit breaker: the network pays.
    ...statements('circuit_breakers_find'),
    ...autocommit('circuit_breakers_update'),
    ...inLongRun(completionPoints),
    ...autocommit('outbox_delete'),
  ],
  coveredElsewhere: merchantEventPoints,
});

testCrashStory({
  title: 'while it looks up a transfer that never arrived, and resends it',
  role: 'worker',
  prepare: (world) => sendWithoutResponse(world, ({ proxy: front }) => front.routeTo(null)),
  // What is left for later waits for the clock, which stands.
  isDone: async (world) => (await countWhere(world, `transfers WHERE status = 'completed'`)) === 1,
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('look-up:responded', [
    ...statements('transfers_lock'),
    ...commit('outbox_upsert'),
    ...autocommit('outbox_postpone'),
    ...autocommit('outbox_claim'),
    ...commit('transfers_update'),
    ...outboundCall('payouts-call'),
    ...statements('circuit_breakers_find'),
    ...autocommit('circuit_breakers_update'),
    ...inLongRun([...autocommit('provider_transactions_insert_once'), ...commit('ledger_holds_close')]),
  ]),
  coveredElsewhere: [...lookUpPoints, ...sendPoints, ...completionPoints, ...merchantEventPoints],
});
