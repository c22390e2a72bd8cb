import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { claimWork } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Charge } from '../payments/charge.ts';
import { createRefundWorld, paidBack, refused, splitWith, type RefundWorld } from '../refunds/refund-world.corpus.ts';
import { settleChargeWork } from './settle-charge.ts';

const hourMs = 60 * 60 * 1_000;
const delayMs = 24 * hourMs;

let world: RefundWorld;
let shop: string;

beforeEach(async () => {
  world = await createRefundWorld({ settlementDelayMs: delayMs });
  shop = await world.newSubAccount(20);
  // What a test merchant begins with would stand in the way of the sums.
  await world.spendAllBut(0n);
});
afterEach(async () => {
  await world.verify();
  await world.close();
});

/** Does the settlements that are due; answers how many. */
async function settleDue(): Promise<number> {
  const now = world.clock.now();
  const claim = { merchantId: world.merchant.id, queue: 'settlement', now, leaseEndsAt: addMs(now, 60_000) } as const;
  const claimed = await claimWork(world.db, { ...claim, rowsMax: 100 });
  await Promise.all(claimed.map((work) => settleChargeWork(world.context, work)));
  return claimed.length;
}

/** `merchant's pending, available; sub-account's pending, settled` in bututs. */
async function readBalances(): Promise<bigint[]> {
  const accounts = ['payable_pending', 'payable_available', `sub:${shop}:pending`, `sub:${shop}`] as const;
  return Promise.all(accounts.map((account) => world.balance(account)));
}

function pay(): Promise<Charge> {
  const { collect } = world;
  return collect({ split: splitWith({ subAccountId: shop }) });
}

test('each payment is settled at its own time, and not before', async () => {
  const first = await pay();
  await world.clock.advance(hourMs);
  const second = await pay();
  assert.deepEqual(await readBalances(), [16_000n, 0n, 4_000n, 0n]);
  await world.clock.advance(delayMs - hourMs - 1);
  assert.equal(await settleDue(), 0);
  await world.clock.advance(1);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [8_000n, 8_000n, 2_000n, 2_000n]);
  assert.deepEqual((await world.charge(first)).settledAt, world.clock.now());
  assert.equal((await world.charge(second)).settledAt, null);
  await world.clock.advance(hourMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [0n, 16_000n, 0n, 4_000n]);
});

test('repeated or concurrent, a settlement moves the money once', async () => {
  const charge = await pay();
  await world.clock.advance(delayMs);
  const now = world.clock.now();
  const claim = { merchantId: world.merchant.id, queue: 'settlement', now, leaseEndsAt: now, rowsMax: 1 } as const;
  const [work] = await claimWork(world.db, claim);
  assert.ok(work);
  await Promise.all([1, 2, 3].map(() => settleChargeWork(world.context, work)));
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 2_000n]);
  assert.equal((await world.movements(charge)).filter((text) => text.startsWith('settled')).length, 2);
  assert.equal(await settleDue(), 0);
});

test('refunded money is not settled, and another payment’s money stays pending', async () => {
  const charge = await pay();
  const other = await pay();
  await world.refundReported(charge, paidBack, 5_000n);
  assert.deepEqual(await readBalances(), [12_000n, 0n, 3_000n, 0n]);
  await world.clock.advance(delayMs);
  assert.equal(await settleDue(), 2);
  assert.deepEqual(await readBalances(), [0n, 12_000n, 0n, 3_000n]);
  assert.ok((await world.charge(other)).settledAt);
});

test('a fully refunded payment leaves nothing to settle', async () => {
  await world.refundReported(await pay(), paidBack);
  await world.clock.advance(delayMs);
  await settleDue();
  assert.deepEqual(await readBalances(), [0n, 0n, 0n, 0n]);
});

test('money that a refund holds is settled when the refund fails', async () => {
  const charge = await pay();
  const refund = await world.refundSent(charge, 5_000n);
  await world.clock.advance(delayMs);
  await settleDue();
  assert.deepEqual(await readBalances(), [0n, 4_000n, 0n, 1_000n]);
  await world.report(refund, refused());
  await world.clock.advance(hourMs);
  assert.equal(await settleDue(), 1, 'it is looked after until the refund has ended');
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 2_000n]);
  await world.clock.advance(hourMs);
  assert.equal(await settleDue(), 0);
});

test('a concurrent refund and settlement of one payment lose nothing', async () => {
  for (let round = 0; round < 10; round += 1) {
    const before = (await readBalances()).reduce((sum, minor) => sum + minor, 0n);
    const charge = await pay();
    await world.clock.advance(delayMs);
    const [refund] = await Promise.all([world.refund(charge, 5_000n), settleDue()]);
    await world.work();
    await world.report(refund, paidBack(refund));
    await world.clock.advance(hourMs);
    await settleDue();
    const [pending, , subPending] = await readBalances();
    assert.deepEqual([pending, subPending], [0n, 0n]);
    assert.equal(
      (await readBalances()).reduce((sum, minor) => sum + minor, 0n),
      before + 5_000n,
    );
  }
});
