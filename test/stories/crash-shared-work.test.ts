import assert from 'node:assert/strict';
import pg from 'pg';
import { readBalance } from '../../server/src/ledger/read-balance.corpus.ts';
import { deliveryPoints, planPoints } from '../harness/crash-paths.ts';
import { autocommit, commit, outboundCall, statements } from '../harness/crash-points.ts';
import type { CrashPoint } from '../harness/crash-steps.ts';
import { testCrashStory } from '../harness/crash-story.ts';
import { verifyBooks, verifyReceived } from '../harness/crash-transfer.ts';
import { countWhere, startingMinor, type CrashWorld } from '../harness/crash-world.ts';
import { eventually } from '../harness/eventually.ts';

const count = 4;
const amountMinor = 45_000n;

/** What a worker waits for from the claim to the booked money; its statements have stories of their own. */
const path: CrashPoint[] = [
  ...autocommit('outbox_claim'),
  ...statements('charges_find_by_id', 'merchants_find_by_id', 'payment_intents_lock', 'charges_update_progress'),
  ...commit('charges_update_progress'),
  ...outboundCall('collections-call'),
  ...autocommit('provider_transactions_insert_once'),
  ...statements('ledger_accounts_try_lock_above_zero', 'payment_intents_update', 'charges_update_outcome'),
  ...commit('charges_update_outcome'),
  ...planPoints,
  ...deliveryPoints,
];

/** Payments of one merchant, which a worker will find all at once. */
async function charge(world: CrashWorld): Promise<void> {
  await world.start('api');
  await world.dropCallbacks();
  for (let index = 0; index < count; index += 1) {
    const { status, text } = await world.client().post('/v1/payments', {
      data: { amount: 450, network: 'aps', account_number: '7000001' },
    });
    assert.equal(status, 201, text);
  }
}

/** Each payment was collected and booked once, or not at all, and then can be tried again. */
async function verifyPayments(world: CrashWorld, { collectedMin = count, collectedMax = count } = {}): Promise<void> {
  const { data } = (await world.client().get('/v1/payments')).body as { data: { status: string }[] };
  const withStatus = (status: string): number => data.filter((intent) => intent.status === status).length;
  const collected = withStatus('successful');
  assert.ok(collected >= collectedMin && collected <= collectedMax, `${collected} were collected`);
  assert.equal(withStatus('requires_payment_method'), count - collected);
  assert.equal(await countWhere(world, `simulator.sessions WHERE status = 'complete'`), collected);
  const key = { merchantId: world.merchant.id, account: 'payable_available', currency: 'GMD' } as const;
  assert.equal(await readBalance(world.db, key), startingMinor + BigInt(collected) * amountMinor);
  await verifyBooks(world);
  const { rows } = await world.database.asOwner<{ id: string }>(
    `SELECT id FROM events WHERE kind IN ('charge.succeeded', 'charge.failed')`,
  );
  assert.equal(rows.length, count, 'one event for each');
  verifyReceived(
    world,
    rows.map(({ id }) => id),
  );
}

testCrashStory({
  title: 'while it marks several payments of one merchant as submitted together',
  role: 'worker',
  prepare: charge,
  // What was marked and not sent fails.
  verify: (world, { step }) =>
    verifyPayments(world, step.endsWith(':after-commit') ? { collectedMin: 0, collectedMax: 0 } : {}),
  points: [...autocommit('charges_find_by_id_x4'), ...commit('charges_update_progress_x4')],
  coveredElsewhere: path,
});

/** Holds back the claims of provider transactions, so that the outcomes of several payments wait for each other. */
const held = new WeakMap<CrashWorld, pg.Client>();

testCrashStory({
  title: 'while it books several payments of one merchant together',
  role: 'worker',
  prepare: async (world) => {
    await charge(world);
    const client = new pg.Client({ connectionString: world.database.adminUrl });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE provider_transactions');
    held.set(world, client);
  },
  trigger: async (world, url) => {
    await eventually('all are sent', async () => (await countWhere(world, 'simulator.sessions')) === count);
    await eventually('the first waits', async () => (await countWhere(world, 'pg_locks WHERE NOT granted')) > 0);
    // Answered after the network's responses, which came before.
    for (let ping = 0; ping < 20; ping += 1) await (await fetch(`${url}/healthz`)).text();
    await held.get(world)?.end();
  },
  verify: (world) => verifyPayments(world),
  // The first is booked alone, and the others together meanwhile.
  points: [...autocommit('provider_transactions_insert_once_x4'), ...commit('charges_update_outcome_x4')],
  coveredElsewhere: [...path, { step: 'GET /healthz:arrived' }, { step: 'GET /healthz:responded' }],
});
