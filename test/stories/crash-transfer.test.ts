import assert from 'node:assert/strict';
import {
  attemptPoints,
  completionPoints,
  deliveryClaimPoints,
  deliveryPoints,
  planPoints,
  sendPoints,
} from '../harness/crash-paths.ts';
import { commit, since, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, requestUntilResponse, verifyTransfer } from '../harness/crash-transfer.ts';
import { countWhere } from '../harness/crash-world.ts';
import { effort } from '../harness/effort.ts';

const merchantEventPoints = [...planPoints, ...deliveryPoints];

// The response that the merchant's server received, if any.
const responses = new WeakMap<object, string>();

testCrashStory({
  title: 'while it accepts a transfer',
  role: 'api',
  points: [
    { step: 'POST /v1/transfers:arrived' },
    ...statements('api_keys_find_by_hmac', 'merchants_find_by_id'),
    ...statements('idempotency_keys_insert_once'),
    ...since('idempotency_keys_insert_once:after', statements('merchants_find_by_id')),
    ...statements('transfer_days_count', 'ledger_accounts_lock', 'ledger_deltas_delete', 'ledger_balances'),
    ...commit('transfers_insert'),
    { step: 'POST /v1/transfers:responded' },
  ],
  coveredElsewhere: planPoints,
  trigger: async (world, url) => {
    const response = await requestTransfer(world, { url }).catch(() => null);
    if (response) responses.set(world, response.text);
  },
  restart: async (world) => {
    await world.start('all');
    const response = await requestUntilResponse(world);
    assert.equal(response.text, responses.get(world) ?? response.text, 'an answer is repeated byte for byte');
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
});

testCrashStory({
  title: 'while it sends a transfer that its network pays',
  role: 'worker',
  prepare: async (world, round) => {
    await world.start('api');
    // Only the look-up finds the outcome; in every other round of the long run callbacks arrive too.
    if (round % 2 === 0) await world.dropCallbacks();
    await requestTransfer(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  // The last: the event of the acceptance has no subscriber.
  points: [...sendPoints, ...completionPoints],
  coveredElsewhere: merchantEventPoints,
});

// The same by the connector of Wave; the usual run has the point at which most can go wrong.
testCrashStory({
  title: 'while it sends a transfer by wave',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await requestTransfer(world, { network: 'wave' });
  },
  verify: (world) => verifyTransfer(world, { status: 'completed', network: 'wave' }),
  // Whether it was reversed is looked up later, and the clock stands.
  isDone: async (world) => (await countWhere(world, `transfers WHERE status = 'completed'`)) === 1,
  points: effort({ usual: [{ step: 'payouts-call:sent' }], long: [...sendPoints, ...completionPoints] }),
  coveredElsewhere: [...sendPoints, ...completionPoints, ...merchantEventPoints],
});

// After five seconds, with its variation (docs/events.md, "Responding").
const firstRetryWithinMs = 6_000;

const refusedNumber = '7000002';

testCrashStory({
  title: 'while it releases the money of a transfer that its network refused',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world, { to: refusedNumber });
  },
  verify: (world) => verifyTransfer(world, { status: 'failed', accountNumber: refusedNumber }),
  points: since('payouts-call:sent', [
    { step: 'payouts-call:responded' },
    ...statements('ledger_holds_close', 'ledger_movements_held_from', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
  coveredElsewhere: [...sendPoints, ...merchantEventPoints],
});

testCrashStory({
  title: 'while it delivers the event of a paid transfer',
  role: 'worker',
  prepare: async (world) => {
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: since('ledger_holds_close:after-commit', [...planPoints, ...attemptPoints]),
  // A poll may come between; the next story is about it.
  coveredElsewhere: [...sendPoints, ...completionPoints, ...deliveryClaimPoints],
});

testCrashStory({
  title: 'while it claims an event that its receiver has refused before',
  role: 'worker',
  prepare: async (world) => {
    world.receiver.respondWith(500);
    await world.start('api');
    await world.dropCallbacks();
    await requestTransfer(world);
    await world.runWorker();
    world.receiver.respondWith(200);
    world.advance(firstRetryWithinMs);
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
  points: deliveryClaimPoints,
  coveredElsewhere: [...sendPoints, ...completionPoints, ...merchantEventPoints],
});
