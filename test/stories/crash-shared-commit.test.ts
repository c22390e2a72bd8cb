import assert from 'node:assert/strict';
import type { ApiResponse } from '../harness/api-client.ts';
import { planPoints } from '../harness/crash-paths.ts';
import { commit, statements } from '../harness/crash-points.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import type { CrashWorld } from '../harness/crash-world.ts';
import { whileLocked } from '../harness/tables.ts';

// The first is committed alone, and the others together while it was under way.
const keys = ['first', 'second', 'third', 'fourth', 'fifth'];

/** The responses that the merchant's server received, by key. */
const responses = new WeakMap<CrashWorld, Map<string, string>>();

function create(world: CrashWorld, key: string, url = world.apiUrl): Promise<ApiResponse> {
  return world.client(url).post('/v1/payments', { data: { amount: 450, title: key } }, { 'idempotency-key': key });
}

async function createTogether(world: CrashWorld, url: string): Promise<void> {
  const received = new Map<string, string>();
  responses.set(world, received);
  const send = async (key: string): Promise<void> => {
    const response = await create(world, key, url).catch(() => null);
    if (response) received.set(key, response.text);
  };
  const ping = async (): Promise<void> => {
    await (await fetch(`${url}/healthz`)).text();
  };
  // So that the requests need no new connections and their key is known: then they wait before the pings behind them are answered.
  await Promise.all(keys.map(() => world.client(url).get('/v1/balances')));
  let sent: Promise<void>[] = [];
  await whileLocked(world, { text: 'LOCK TABLE payment_intents' }, async () => {
    sent = keys.map(send);
    for (let count = 0; count < 20; count += 1) await ping();
  });
  await Promise.all(sent);
}

testCrashStory({
  title: 'while it commits several payments of one merchant together',
  role: 'api',
  points: [...commit('payment_intents_insert_x4')],
  // The first payment's own transaction, and what a request reads, as in the stories of one request.
  coveredElsewhere: [
    { step: 'POST /v1/payments:arrived' },
    { step: 'POST /v1/payments:responded' },
    { step: 'GET /v1/balances:arrived' },
    { step: 'GET /v1/balances:responded' },
    ...statements('ledger_balances'),
    { step: 'GET /healthz:arrived' },
    { step: 'GET /healthz:responded' },
    ...statements(
      'api_keys_find_by_hmac',
      'merchants_find_by_id',
      'idempotency_keys_insert_once',
      'idempotency_keys_find',
    ),
    ...commit('payment_intents_insert'),
    ...planPoints,
  ],
  trigger: createTogether,
  restart: async (world) => {
    await world.start('all');
    for (const key of keys) {
      const response = await create(world, key);
      assert.equal(response.status, 201, response.text);
      assert.equal(
        response.text,
        responses.get(world)?.get(key) ?? response.text,
        'an answer is repeated byte for byte',
      );
    }
  },
  verify: async (world) => {
    const { data } = (await world.client().get('/v1/payments')).body as { data: Record<string, unknown>[] };
    assert.deepEqual(data.map(({ title }) => title).toSorted(), keys.toSorted(), 'one payment for each key');
    const { rows: events } = await world.database.asOwner(
      `SELECT DISTINCT object_id FROM events WHERE kind = 'payment_intent.created'`,
    );
    assert.equal(events.length, keys.length, 'one event for each payment');
  },
});
