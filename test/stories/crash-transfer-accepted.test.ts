import assert from 'node:assert/strict';
import { commit, since, wait } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { order, orderUntilAnswered, verifyTransfer } from '../harness/crash-transfer.ts';

// What the merchant's server was told, when it was told anything.
const answers = new WeakMap<object, string>();

testCrashStory({
  title: 'while it accepts a transfer',
  role: 'api',
  points: [
    { at: 'POST /v1/transfers:arrived' },
    ...wait('api_keys_find_by_hmac', 'merchants_find_by_id'),
    ...wait('idempotency_keys_insert_once'),
    ...since('idempotency_keys_insert_once:after', wait('merchants_find_by_id')),
    ...wait('transfer_days_count', 'ledger_accounts_lock', 'ledger_deltas_delete', 'ledger_balances'),
    ...commit('transfers_insert'),
    { at: 'POST /v1/transfers:answered' },
  ],
  provoke: async (world, url) => {
    const answer = await order(world, { url }).catch(() => null);
    if (answer) answers.set(world, answer.text);
  },
  restart: async (world) => {
    await world.start('all');
    const answer = await orderUntilAnswered(world);
    assert.equal(answer.text, answers.get(world) ?? answer.text, 'an answer is repeated byte for byte');
  },
  verify: (world) => verifyTransfer(world, { status: 'completed' }),
});
