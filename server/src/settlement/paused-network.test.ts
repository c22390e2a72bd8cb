import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { createTransfer } from '../transfers/create-transfer.ts';
import { newTransfer } from '../transfers/transfer-world.corpus.ts';
import { createPayout } from './create-payout.ts';
import { settleSubAccounts } from './settle-sub-accounts.ts';
import { createSettlementWorld, today, type SettlementWorld } from './settlement-world.corpus.ts';

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});
after(() => world.close());

/** A merchant with two networks, of which an operator pauses one. */
function twoNetworks() {
  const networks = createNetworkRegistry([new ScriptedNetwork('aps')]);
  const connector = new ScriptedNetwork('wave', { railAccount: 'rail-wave' });
  const set = (isDisabled: boolean) => networks.replace([{ connector, rank: 1, isDisabled }]);
  return { context: { ...world.context, networks }, pause: () => set(true), resume: () => set(false) };
}

const isPaused = (error: unknown): boolean =>
  error instanceof AppError &&
  error.code === 'network_not_available' &&
  !error.isStored &&
  error.message.includes('has paused payouts to Wave');

test('a scheduled payout whose network an operator has paused stays due, and follows in its period', async () => {
  const { merchant } = world;
  const { context, pause, resume } = twoNetworks();
  const subAccount = await world.subAccount(5_000n);
  const settle = () => settleSubAccounts(context, { merchant, period: today, retriesRefused: false });
  pause();
  const { held, refused } = await settle();
  assert.deepEqual([held, refused], [1, 0]);
  assert.deepEqual(await world.periodsOf(subAccount), []);
  resume();
  await settle();
  assert.deepEqual(await world.periodsOf(subAccount), [`${today} paid`]);
});

test('payouts to a network that an operator has paused are refused as such, and no key remembers it', async () => {
  const { db, merchant } = world;
  const { context, pause, resume } = twoNetworks();
  const { id: subAccountId } = await world.subAccount(5_000n);
  await db.withTransaction((tx) =>
    world.postIn(tx, merchant, [{ debit: 'float:rail-wave', credit: 'payable_available', amountMinor: 20_000n }]),
  );
  const payOut = () =>
    db.withTransaction((tx) => createPayout(tx, context, merchant, { subAccountId, amountMinor: null }));
  const transfer = () => db.withTransaction((tx) => createTransfer(tx, context, merchant, newTransfer));
  pause();
  await assert.rejects(payOut(), isPaused);
  await assert.rejects(transfer(), isPaused);
  resume();
  await payOut();
  await transfer();
});
