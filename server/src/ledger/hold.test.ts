import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { hold, releaseHold, settleHold } from './hold.ts';
import type { HoldSource, Part } from './posting.ts';
import { createLedgerWorld, type LedgerWorld } from './ledger-world.corpus.ts';
import { verifyLedger } from './verify.ts';

let world: LedgerWorld;

before(async () => {
  world = await createLedgerWorld();
});

after(() => world.close());

const funded: Part[] = [
  { account: 'payable_available', amountMinor: 700n },
  { account: 'fees', amountMinor: 30n },
];
const out = { flow: 'paid', to: [{ account: 'float:rail', amountMinor: 730n }] } as const;

/** A merchant with 1,000 that can be spent and 100 in fees. */
async function newMerchant(): Promise<string> {
  const merchantId = await world.newMerchant();
  await world.post(merchantId, { debit: 'float:rail', credit: 'payable_available', amountMinor: 1_000n });
  await world.post(merchantId, { debit: 'float:rail', credit: 'fees', amountMinor: 100n });
  return merchantId;
}

function sourceOf(merchantId: string): HoldSource {
  return { merchantId, currency: 'GMD', source: { type: 'test', id: world.newId() }, at: new Date(0) };
}

function held(at: HoldSource, from: readonly Part[]): Promise<void> {
  return world.db.withTransaction((tx) => hold(tx, world, at, from));
}

function settled(at: HoldSource, paid: { flow: string; to: readonly Part[] } = out): Promise<void> {
  return world.db.withTransaction((tx) => settleHold(tx, world, at, paid));
}

function released(at: HoldSource): Promise<void> {
  return world.db.withTransaction((tx) => releaseHold(tx, world, at));
}

async function balances(merchantId: string): Promise<Record<string, bigint>> {
  const { finding } = await verifyLedger(world.db);
  assert.equal(finding, null);
  return {
    payable: await world.balance(merchantId, 'payable_available'),
    fees: await world.balance(merchantId, 'fees'),
    held: await world.balance(merchantId, 'held'),
    float: await world.balance(merchantId, 'float:rail'),
  };
}

test('held money cannot be spent, and is paid out when the hold is settled', async () => {
  const merchantId = await newMerchant();
  const at = sourceOf(merchantId);
  await held(at, funded);
  assert.deepEqual(await balances(merchantId), { payable: 300n, fees: 70n, held: 730n, float: 1_100n });
  await settled(at);
  assert.deepEqual(await balances(merchantId), { payable: 300n, fees: 70n, held: 0n, float: 370n });
});

test('a released hold returns to each account its part', async () => {
  const merchantId = await newMerchant();
  const at = sourceOf(merchantId);
  await held(at, funded);
  await released(at);
  assert.deepEqual(await balances(merchantId), { payable: 1_000n, fees: 100n, held: 0n, float: 1_100n });
});

test('a hold beyond one account’s balance holds nothing', async () => {
  const merchantId = await newMerchant();
  await assert.rejects(
    held(sourceOf(merchantId), [
      { account: 'payable_available', amountMinor: 700n },
      { account: 'fees', amountMinor: 101n },
    ]),
    (error) => error instanceof AppError && error.code === 'insufficient_balance',
  );
  assert.deepEqual(await balances(merchantId), { payable: 1_000n, fees: 100n, held: 0n, float: 1_100n });
});

test('a hold is settled or released once', async () => {
  for (const first of [settled, released]) {
    for (const second of [settled, released]) {
      const merchantId = await newMerchant();
      const at = sourceOf(merchantId);
      await held(at, funded);
      await first(at);
      const before = await balances(merchantId);
      await assert.rejects(second(at), /what was held/);
      assert.deepEqual(await balances(merchantId), before);
    }
  }
});

test('of many concurrent attempts to close a hold one succeeds', async () => {
  const merchantId = await newMerchant();
  const at = sourceOf(merchantId);
  await held(at, funded);
  const ends = await Promise.allSettled([settled(at), released(at), settled(at), released(at), settled(at)]);
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
  const { held: left } = await balances(merchantId);
  assert.equal(left, 0n);
});

test('a source has one hold', async () => {
  const merchantId = await newMerchant();
  const at = sourceOf(merchantId);
  await held(at, funded);
  await assert.rejects(held(at, [{ account: 'payable_available', amountMinor: 1n }]), /ledger_holds_source_key/);
});

test('settling a hold with another amount fails', async () => {
  const merchantId = await newMerchant();
  const at = sourceOf(merchantId);
  await held(at, funded);
  for (const amountMinor of [729n, 731n]) {
    await assert.rejects(settled(at, { flow: 'paid', to: [{ account: 'float:rail', amountMinor }] }), /what was held/);
  }
  assert.equal((await balances(merchantId))['held'], 730n);
});

test('holds of one merchant close concurrently, without waiting for each other', async () => {
  const merchantId = await newMerchant();
  const [one, other] = [sourceOf(merchantId), sourceOf(merchantId)];
  const part: Part[] = [{ account: 'payable_available', amountMinor: 100n }];
  const paid = { flow: 'paid', to: [{ account: 'float:rail', amountMinor: 100n }] } as const;
  await held(one, part);
  await held(other, part);
  const [closed, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = world.db.withTransaction(async (tx) => {
    await settleHold(tx, world, one, paid);
    await tx.run({ name: 'test_now', text: 'SELECT 1', values: [] });
    closed.resolve();
    await mayCommit.promise;
  });
  await closed.promise;
  await settled(other, paid);
  mayCommit.resolve();
  await slow;
  assert.deepEqual(await balances(merchantId), { payable: 800n, fees: 100n, held: 0n, float: 900n });
});
