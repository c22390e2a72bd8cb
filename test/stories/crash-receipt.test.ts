import { deliveryPoints, planPoints } from '../harness/crash-paths.ts';
import { autocommit, commit, inLongRun, statements } from '../harness/crash-points.ts';
import {
  requireConfirmation,
  forwardMessage,
  importStatement,
  payByReceipt,
  verifyReceipt,
} from '../harness/crash-receipts.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { countWhere, type CrashWorld } from '../harness/crash-world.ts';

const eventPoints = [...planPoints, ...deliveryPoints];

testCrashStory({
  title: 'while it stores a message that a shop’s phone forwards',
  role: 'api',
  prepare: payByReceipt,
  trigger: async (world, url) => {
    await forwardMessage(world, url);
  },
  // What was not acknowledged is forwarded again.
  restart: async (world) => {
    await forwardMessage(world);
  },
  verify: (world) => verifyReceipt(world, 'unconfirmed'),
  points: [
    ...inLongRun([{ step: 'POST /networks/kairaba-wave/messages:arrived' }]),
    ...statements('merchants_find_by_id', 'receipts_insert_once'),
    ...commit('receipts_insert_once'),
    ...inLongRun(autocommit('receipt_phones_note')),
    ...inLongRun([{ step: 'POST /networks/kairaba-wave/messages:responded' }]),
  ],
});

const matchPoints = [
  ...inLongRun(autocommit('outbox_claim')),
  ...statements('receipts_find_by_id', 'typed_ids_list_of_transaction', 'receipts_find_by_key', 'charges_find_by_id'),
  ...statements('receipts_find_paid_charge', 'merchants_find_by_id', 'merchants_find_receipt_confirm_above'),
  ...statements('payment_intents_lock', 'typed_ids_update', 'receipts_lock_of_transaction', 'receipts_assign'),
  ...statements('provider_transactions_find_owner'),
  ...statements('payment_intents_update', 'charges_update_outcome'),
  ...commit('receipts_assign'),
  ...inLongRun(autocommit('outbox_delete')),
];

testCrashStory({
  title: 'while it matches a receipt with its payment',
  role: 'worker',
  prepare: async (world) => {
    await payByReceipt(world);
    await forwardMessage(world);
  },
  verify: (world) => verifyReceipt(world, 'unconfirmed'),
  points: matchPoints,
  coveredElsewhere: eventPoints,
});

const statementIntervalMs = 10 * 60_000;

/** Statements are reconciled ten minutes after a start at the latest, by the killed process or by the next. */
const atNightlyReconciliation = {
  runsForMs: statementIntervalMs,
  restart: async (world: CrashWorld) => {
    await world.start('worker');
    world.advance(statementIntervalMs);
  },
};

testCrashStory({
  title: 'while a statement line confirms a receipt for which a payment waits',
  role: 'worker',
  prepare: async (world) => {
    await requireConfirmation(world);
    await payByReceipt(world);
    await forwardMessage(world);
    await world.runWorker();
    await importStatement(world, '450.00');
  },
  ...atNightlyReconciliation,
  isDone: async (world) => (await countWhere(world, `receipts WHERE charge_id IS NOT NULL`)) === 1,
  verify: (world) => verifyReceipt(world, 'confirmed'),
  points: [
    ...statements('receipts_update_status', 'receipts_list_unconfirmed'),
    ...commit('receipts_update_status'),
    // Its look-up, which is hourly, finds nothing new.
    ...statements('outbox_postpone'),
  ],
  coveredElsewhere: [...matchPoints, ...eventPoints],
});

testCrashStory({
  title: 'while a statement line contradicts the receipt that paid a payment',
  role: 'worker',
  prepare: async (world) => {
    await payByReceipt(world);
    await forwardMessage(world);
    await world.runWorker();
    await importStatement(world, '45.00');
  },
  ...atNightlyReconciliation,
  isDone: async (world) => (await countWhere(world, `charges WHERE status = 'reversed'`)) === 1,
  verify: (world) => verifyReceipt(world, 'contradicted'),
  points: [
    ...statements('receipts_update_status', 'cases_insert_once', 'ledger_accounts_lock', 'ledger_deltas_delete'),
    ...commit('receipts_update_status'),
    ...statements('receipts_list_unconfirmed'),
  ],
  coveredElsewhere: [...matchPoints, ...eventPoints],
});
