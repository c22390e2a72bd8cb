import assert from 'node:assert/strict';
import { planPoints } from '../harness/crash-paths.ts';
import { commit, since, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { requestTransfer, requestUntilResponse, verifyTransfer } from '../harness/crash-transfer.ts';

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
