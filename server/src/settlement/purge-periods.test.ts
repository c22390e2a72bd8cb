import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { genericPlans } from '../../../test/harness/explain.ts';
import { withAdminClient } from '../database/admin-client.ts';
import { oldestRetainedPeriod, purgePeriods } from './purge-periods.ts';
import { deletePeriodsBefore, deleteRunsBefore, listMerchantsWithOldPeriods } from './queries.ts';
import { createSettlementWorld, type SettlementWorld } from './settlement-world.corpus.ts';

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});
after(() => world.close());

function asOwner(text: string, values: unknown[] = []): Promise<unknown> {
  return withAdminClient(world.adminUrl, (client) => client.query(text, values));
}

test('periods are retained for 400 days and then deleted in batches, their payouts never', async () => {
  const { merchant } = world;
  const subAccount = await world.subAccount(1_500n);
  await world.settle({ period: '2025-10-15' });
  assert.equal((await world.payoutsOf(subAccount)).length, 1);
  await asOwner(
    `INSERT INTO settlement_periods (merchant_id, sub_account_id, period, refusal, created_at)
     SELECT $1, $2, date '2025-10-14' - n, 'insufficient_balance', $3 FROM generate_series(1, 600) AS n`,
    [merchant.id, subAccount.id, world.clock.now()],
  );
  await world.settle({ period: '2025-10-17' });
  // From 2026-11-20 this is 400 days ago.
  await world.settle({ period: '2025-10-16' });
  assert.equal(oldestRetainedPeriod(world.clock.now()), '2025-10-16');
  const counts: number[] = [];
  for (;;) {
    const count = await purgePeriods(world);
    if (count === 0) break;
    counts.push(count);
  }
  assert.deepEqual(counts, [501, 101], 'the run of 2025-10-15, and 601 rows of its sub-account');
  assert.deepEqual(await world.periodsOf(subAccount), []);
  const runs = await world.db.rows<{ period: string }>({
    name: 'test_runs',
    text: 'SELECT period::text AS period FROM settlement_runs WHERE merchant_id = $1 ORDER BY period',
    values: [merchant.id],
  });
  assert.deepEqual(runs, [{ period: '2025-10-16' }, { period: '2025-10-17' }]);
  assert.equal((await world.payoutsOf(subAccount)).length, 1);
  await world.verify();
});

test('purging reads old periods only', async () => {
  const subAccount = await world.subAccount();
  const values = [world.merchant.id, subAccount.id, world.clock.now()];
  await asOwner(
    `INSERT INTO settlement_periods (merchant_id, sub_account_id, period, refusal, created_at)
     SELECT $1, $2, date '2026-01-01' + n, 'insufficient_balance', $3 FROM generate_series(1, 100000) AS n`,
    values,
  );
  await asOwner('ANALYZE settlement_periods');
  const plans = await genericPlans(world, async (requested) => {
    await listMerchantsWithOldPeriods(requested, '2025-01-01');
    await deletePeriodsBefore(requested, world.merchant.id, '2025-01-01');
    await deleteRunsBefore(requested, world.merchant.id, '2025-01-01');
  });
  for (const plan of plans.slice(0, 2)) assert.match(plan, /settlement_periods_period_idx/);
  for (const plan of plans.slice(0, 2)) assert.doesNotMatch(plan, /Seq Scan on settlement_periods/);
  assert.equal(plans.length, 3);
  for (const plan of plans) assert.doesNotMatch(plan, /Join|Nested Loop/, 'the runs are a small table to the planner');
});
