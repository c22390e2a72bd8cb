import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { setPayoutSchedule } from '../merchants/payout-schedule.ts';
import { listDueSettlements } from './scheduled-payouts.ts';
import { settleSubAccounts } from './settle-sub-accounts.ts';
import { createSettlementWorld, today, type SettlementWorld } from './settlement-world.corpus.ts';

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});

after(() => world.close());

test('a scheduled payout of money that lies elsewhere is recorded as refused, and its period is done', async () => {
  const { merchant, context, db } = world;
  const live = { ...merchant, testMode: false, liveApprovedAt: new Date(0) };
  const networks = createNetworkRegistry([
    new ScriptedNetwork('wave', { testMode: false }),
    new ScriptedNetwork('aps', { testMode: false, merchantId: merchant.id, railAccount: 'rail-own' }),
  ]);
  const collectedOn = async (float: 'float:rail-wave' | 'float:rail-own') => {
    const subAccount = await world.subAccount();
    const movement = { debit: float, credit: `sub:${subAccount.id}`, amountMinor: 2_000n } as const;
    await db.withTransaction((tx) => world.postIn(tx, merchant, [movement]));
    return subAccount;
  };
  const [covered, elsewhere] = [await collectedOn('float:rail-wave'), await collectedOn('float:rail-own')];
  const otherMinor = (await world.balance('float:rail-wave')) - 2_000n;
  const moved = { debit: 'float:rail-own', credit: 'float:rail-wave', amountMinor: otherMinor } as const;
  if (otherMinor > 0n) await db.withTransaction((tx) => world.postIn(tx, merchant, [moved]));
  await setPayoutSchedule(db, merchant.id, 'daily');
  const own = { ...context, networks };
  const totals = await settleSubAccounts(own, { merchant: live, period: today, retriesRefused: false });
  assert.deepEqual([totals.payouts, totals.refused, totals.failed], [1, 1, 0]);
  assert.deepEqual(await world.periodsOf(covered), [`${today} paid`]);
  assert.deepEqual(await world.periodsOf(elsewhere), [`${today} insufficient_balance`]);
  assert.deepEqual(await listDueSettlements(own), []);
});
