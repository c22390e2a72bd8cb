import { doEverything, openShop, payAtCounter, verifyShop } from '../harness/crash-collected.ts';
import { collectionPoints, completionPoints, deliveryPoints, planPoints, sendPoints } from '../harness/crash-paths.ts';
import { autocommit, commit, inLongRun, outboundCall, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { countWhere } from '../harness/crash-world.ts';

// A worker that has much to do at once. `npm test` kills it where most can go wrong: what was sent may be sent again.

testCrashStory({
  title: 'while it refunds, pays out, settles, notifies staff, and fails to deliver',
  role: 'worker',
  prepare: async (world) => {
    await openShop(world, { hasReserve: true });
    await doEverything(world);
    await payAtCounter(world);
    world.receiver.respondWith(500);
  },
  restart: (world) => Promise.resolve(world.receiver.respondWith(200)),
  isDone: async (world) => {
    const due = `<= '${world.clock.now().toISOString()}'`;
    const work = [`outbox WHERE due_at ${due}`, `webhook_deliveries WHERE next_attempt_at ${due}`];
    const left = await Promise.all(work.map((each) => countWhere(world, each)));
    return left.every((count) => count === 0);
  },
  verify: (world) => verifyShop(world, { intents: 4, charges: 4 }),
  points: [
    ...commit('settlement_mark_charge_settled').slice(1),
    ...autocommit('notifications_claim').slice(1),
    ...inLongRun([
      ...outboundCall('refunds-call'),
      ...autocommit('refunds_find_by_id'),
      ...commit('refunds_find_by_id'),
      ...outboundCall('payouts-call'),
      ...commit('settlement_mark_charge_settled').slice(0, 1),
      ...commit('notifications_insert_once'),
      ...autocommit('notification_numbers_take_turn'),
      ...autocommit('notifications_claim').slice(0, 1),
      ...autocommit('notifications_mark_sent'),
      ...autocommit('outbox_delete'),
      ...commit('webhook_deliveries_mark_attempts_failed'),
    ]),
    ...statements('settlement_find_charge', 'settlement_list_refunds_of_charge', 'ledger_movements_sum_by_sources'),
    ...statements('ledger_accounts_lock', 'ledger_deltas_delete', 'payment_intents_find_by_id'),
    ...statements('virtual_terminals_find', 'notifications_insert_once', 'notification_numbers_list'),
    ...statements('notification_channels_list', 'webhook_health_note'),
  ],
  coveredElsewhere: [...collectionPoints, ...sendPoints, ...completionPoints, ...planPoints, ...deliveryPoints],
});
