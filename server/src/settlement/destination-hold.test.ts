import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { createSubAccount, updateSubAccount, type SubAccountChange } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { createPayout } from './create-payout.ts';
import { settleSubAccounts } from './settle-sub-accounts.ts';
import { createSettlementWorld, today, type SettlementWorld } from './settlement-world.corpus.ts';

const secondMs = 1_000;
const dayMs = 24 * 3_600 * secondMs;
const isHeld = (error: unknown): boolean =>
  error instanceof AppError &&
  error.code === 'state_conflict' &&
  error.message.startsWith('The destination was changed');

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});
after(() => world.close());

/** A sub-account with 50 GMD, and what happens to it, in one environment. */
async function newShop({ testMode }: { testMode: boolean }) {
  const { db } = world;
  const merchant = { ...world.merchant, testMode, liveApprovedAt: new Date(0) };
  const networks = createNetworkRegistry([new ScriptedNetwork('wave', { testMode })]);
  const context = { ...world.context, networks };
  const caller = { merchantId: merchant.id, testMode };
  const account = { ...newSubAccount, accountNumber: '+2207001234' };
  const { id } = await db.withTransaction(async (tx) => createSubAccount(tx, context, caller, account));
  await world.credit({ id }, 5_000n);
  return {
    id,
    change: (change: SubAccountChange) =>
      db.withTransaction((tx) => updateSubAccount(tx, context, caller, { id, change, prefix: '' })),
    payOut: (amountMinor: bigint): Promise<Transfer> =>
      db.withTransaction((tx) => createPayout(tx, context, merchant, { subAccountId: id, amountMinor })),
    settle: () => settleSubAccounts(context, { merchant, period: today, retriesRefused: false }),
  };
}

test('live payouts to a changed destination, also scheduled ones, are refused for a day after the change', async () => {
  const shop = await newShop({ testMode: false });
  await shop.payOut(1_000n);
  await shop.change({ accountNumber: '+2207005679' });
  await assert.rejects(shop.payOut(1_000n), isHeld);
  await shop.settle();
  assert.deepEqual(await world.periodsOf(shop), [], 'the period stays due');
  await world.clock.advance(dayMs - secondMs);
  await assert.rejects(shop.payOut(1_000n), isHeld);
  await world.clock.advance(secondMs);
  const { accountNumber } = await shop.payOut(1_000n);
  assert.equal(accountNumber, '+2207005679');
  await shop.settle();
  assert.deepEqual(await world.periodsOf(shop), [`${today} paid`]);
});

test('a change that keeps the destination does not begin the day again', async () => {
  const shop = await newShop({ testMode: false });
  await shop.change({ accountNumber: '+2207005679' });
  await world.clock.advance(dayMs - secondMs);
  // The same number, written otherwise.
  await shop.change({ name: 'Awa Jallow', settlementCode: 'wave', accountNumber: '+220 700 5679' });
  await world.clock.advance(secondMs);
  await shop.payOut(1_000n);
});

test('test payouts to a changed destination are not held', async () => {
  const shop = await newShop({ testMode: true });
  await shop.change({ accountNumber: '7005679' });
  await shop.payOut(1_000n);
});
