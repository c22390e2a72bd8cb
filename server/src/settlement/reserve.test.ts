import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { claimWork } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { clearReserve, reserveAt, resolveReserve, setReserve } from '../merchants/reserve.ts';
import { applyAnswer } from '../payments/apply-answer.ts';
import { reversed } from '../payments/payment-world.corpus.ts';
import { createRefundWorld, splitWith } from '../refunds/refund-world.corpus.ts';
import type { RefundWorld } from '../refunds/refund-world.corpus.ts';
import { settleChargeWork } from './settle-charge.ts';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const rule = { percentHundredths: 1_000n, hours: 48n, newForDays: 30n };

let world: RefundWorld;
let shop: string;

async function open(settlementDelayMs: number): Promise<void> {
  world = await createRefundWorld({ settlementDelayMs });
  shop = await world.newSubAccount(20);
  await world.spendAllBut(0n);
  await setReserve(world.db, { merchantId: world.merchant.id }, rule);
  await forgetMerchant();
}

beforeEach(() => open(0));
afterEach(async () => {
  await world.verify();
  await world.close();
});

/** Processes remember a merchant for three seconds. */
function forgetMerchant(): Promise<void> {
  return world.clock.advance(3_000);
}

async function settleDue(): Promise<number> {
  const now = world.clock.now();
  const claim = { merchantId: world.merchant.id, queue: 'settlement', now, leaseEndsAt: addMs(now, 60_000) } as const;
  const claimed = await claimWork(world.db, { ...claim, rowsMax: 100 });
  for (const work of claimed) await settleChargeWork(world.context, work);
  return claimed.length;
}

/** `merchant's pending, available; sub-account's pending, settled` in bututs. */
async function standing(): Promise<bigint[]> {
  const accounts = ['payable_pending', 'payable_available', `sub:${shop}:pending`, `sub:${shop}`] as const;
  return Promise.all(accounts.map((account) => world.balance(account)));
}

const pay = () => world.collect({ split: splitWith({ subAccountId: shop }) });

test('a new merchant’s payments, shares included, keep their reserve until its time is over', async () => {
  await pay();
  assert.deepEqual(await standing(), [800n, 7_200n, 200n, 1_800n]);
  await world.clock.advance(48 * hourMs - 1);
  assert.equal(await settleDue(), 0);
  await world.clock.advance(1);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await standing(), [0n, 8_000n, 0n, 2_000n]);
});

test('with a settlement delay the rest waits for the delay, and the reserve for its own time', async () => {
  await world.close();
  await open(dayMs);
  const charge = await pay();
  assert.deepEqual(await standing(), [8_000n, 0n, 2_000n, 0n]);
  await world.clock.advance(dayMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await standing(), [800n, 7_200n, 200n, 1_800n]);
  assert.equal((await world.charge(charge)).settledAt, null);
  await world.clock.advance(dayMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await standing(), [0n, 8_000n, 0n, 2_000n]);
});

test('a refund takes its own payment’s reserve only, so that refunds never use up what others keep', async () => {
  const first = await pay();
  await pay();
  await world.refund(first);
  assert.deepEqual(await standing(), [800n, 7_200n, 200n, 1_800n]);
});

test('a reversal of money that was paid out takes the reserve of the other payments before it leaves a debt', async () => {
  const first = await world.collect();
  await world.collect();
  await world.spendAllBut(0n);
  assert.equal(await world.balance('payable_pending'), 2_000n);
  await applyAnswer(world.context, first, reversed(first, { transactionId: first.networkTransactionId ?? '' }));
  assert.equal(await world.balance('payable_pending'), 0n);
  assert.equal(await world.balance('receivable_merchant'), 8_000n);
});

test('once a merchant is no longer new its money is not kept back, and what was kept stays until its time', async () => {
  await pay();
  await clearReserve(world.db, { merchantId: world.merchant.id });
  await forgetMerchant();
  await pay();
  assert.deepEqual(await standing(), [800n, 15_200n, 200n, 3_800n]);
});

test('the default is for live merchants, a rule of its own goes before it, and neither outlasts its days', async () => {
  await setReserve(world.db, 'default', rule);
  const own = { ...rule, percentHundredths: 0n };
  assert.equal(resolveReserve({ own: null, fallback: rule }, true), null);
  assert.equal(resolveReserve({ own: null, fallback: rule }, false), rule);
  assert.equal(resolveReserve({ own, fallback: rule }, false), own);
  const stranger = await world.newMerchant();
  const read = async ({ id }: Merchant) => createMerchantDirectory(world.db, world.clock).byId(id);
  assert.equal((await read(stranger))?.reserve, null, 'a test merchant has none by default');
  assert.deepEqual((await read(world.merchant))?.reserve, rule);
  const { createdAt } = stranger;
  assert.equal(reserveAt({ reserve: own, createdAt }, createdAt), null);
  assert.equal(reserveAt({ reserve: rule, createdAt }, addMs(createdAt, 30 * dayMs)), null);
  assert.deepEqual(reserveAt({ reserve: rule, createdAt }, addMs(createdAt, 30 * dayMs - 1)), {
    percentHundredths: 1_000n,
    forMs: 48 * hourMs,
  });
});
