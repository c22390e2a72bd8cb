import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution, type ResolveContext } from '../cases/resolve-case.ts';
import { claimWork } from '../events/outbox.ts';
import { AppError } from '../api/app-error.ts';
import { addMs } from '../kit/clock.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { clearReserve, setReserve } from '../merchants/manage-rules.ts';
import { reserveAt, resolveReserve } from '../merchants/rules.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { createRefundWorld, paidBack, splitWith, type RefundWorld } from '../refunds/refund-world.corpus.ts';
import { createPayout } from './create-payout.ts';
import { deleteSubAccount } from './delete-sub-account.ts';
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
async function readBalances(): Promise<bigint[]> {
  const accounts = ['payable_pending', 'payable_available', `sub:${shop}:pending`, `sub:${shop}`] as const;
  return Promise.all(accounts.map((account) => world.balance(account)));
}

/** The network takes a part of a payment back, and two operators book it. */
async function clawBackPart(charge: Charge, amountMinor: bigint): Promise<void> {
  const transactionId = charge.networkTransactionId ?? '';
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor }));
  await resolveCase(charge, {
    kind: 'partial_reversal',
    resolution: 'reversed',
    reported: { transactionId, amountMinor },
  });
}

/** Two operators resolve a case about a charge. */
async function resolveCase(
  charge: Charge,
  { kind, resolution, reported }: { kind: Case['kind']; resolution: string; reported: ReportedMoney | null },
): Promise<void> {
  const found = (await listCases(world.db, 'open', 100, null)).find(
    (one) => one.kind === kind && one.subjectId === charge.id,
  );
  assert.ok(found);
  const context: ResolveContext = {
    ...world.context,
    resolvers: createChargeResolvers(world.context),
    isOperator: () => Promise.resolve(true),
  };
  const [operatorId, other] = [world.context.newId(), world.context.newId()];
  const proposal = { caseId: found.id, resolution, evidence: 'The network’s statement.', reported, operatorId };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId: found.id, operatorId: other });
}

const pay = () => world.collect({ split: splitWith({ subAccountId: shop }) });

test('the reserve holds shares while the merchant owes, so that a reversal can debit them', async () => {
  const whole = { percentHundredths: 10_000n, hours: 72n, newForDays: null };
  await setReserve(world.db, { merchantId: world.merchant.id }, whole);
  await forgetMerchant();
  await world.post({ debit: 'receivable_merchant', credit: 'test_funding', amountMinor: 50_000n });
  const accomplice = await world.newSubAccount(99);
  const charge = await world.collect({ split: splitWith({ subAccountId: accomplice }) });
  assert.equal(await world.balance(`sub:${accomplice}:pending`), 9_900n);
  const payOut = world.db.withTransaction((tx) =>
    createPayout(tx, world.context, world.merchant, { subAccountId: accomplice, amountMinor: null }),
  );
  await assert.rejects(payOut, (error) => error instanceof AppError && error.code === 'balance_below_minimum');
  const { networkTransactionId } = charge;
  await applyResponse(world.context, charge, reversed(charge, { transactionId: networkTransactionId ?? '' }));
  assert.deepEqual(await world.balances(`sub:${accomplice}:pending`, `sub_owed:${accomplice}`, 'receivable_merchant'), {
    [`sub:${accomplice}:pending`]: 0n,
    [`sub_owed:${accomplice}`]: 0n,
    receivable_merchant: 50_000n,
  });
});

test('the reserve of a mismatch accepted late counts from its arrival, not from its acceptance', async () => {
  const { charge } = await world.create({ network: 'aps' });
  const transactionId = `other-${charge.id}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId, amountMinor: 9_000n }));
  const receivedAt = world.clock.now();
  await world.clock.advance(40 * hourMs);
  await resolveCase(charge, { kind: 'amount_mismatch', resolution: 'accept', reported: null });
  assert.deepEqual((await world.charge(charge)).settlesAt, addMs(receivedAt, 48 * hourMs));
  assert.equal(await world.balance('payable_pending'), 900n);
  await world.clock.advance(8 * hourMs);
  assert.equal(await settleDue(), 1);
  assert.equal(await world.balance('payable_pending'), 0n);
});

test('the reserve of a second payment accepted on a settled charge counts from its own arrival', async () => {
  const charge = await pay();
  await world.clock.advance(48 * hourMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 2_000n]);
  const transactionId = `second-${charge.id}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
  const receivedAt = world.clock.now();
  await world.clock.advance(hourMs);
  await resolveCase(charge, { kind: 'second_success', resolution: 'accept', reported: null });
  const waiting = await world.charge(charge);
  assert.deepEqual([waiting.settlesAt, waiting.settledAt], [addMs(receivedAt, 48 * hourMs), null]);
  const [pending = 0n, available = 0n, sharePending = 0n, share = 0n] = await readBalances();
  assert.deepEqual([pending + available, sharePending + share], [18_000n, 2_000n]);
  assert.equal(pending, 1_000n, 'a tenth of what came');
  await world.clock.advance(47 * hourMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [0n, 18_000n, 0n, 2_000n]);
});

test('a new merchant’s payments, shares included, hold their reserve until it is released', async () => {
  await pay();
  assert.deepEqual(await readBalances(), [800n, 7_200n, 200n, 1_800n]);
  await world.clock.advance(48 * hourMs - 1);
  assert.equal(await settleDue(), 0);
  await world.clock.advance(1);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 2_000n]);
});

test('with a settlement delay, the rest settles after the delay and the reserve at its own time', async () => {
  await world.close();
  await open(dayMs);
  const charge = await pay();
  assert.deepEqual(await readBalances(), [8_000n, 0n, 2_000n, 0n]);
  await world.clock.advance(dayMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [800n, 7_200n, 200n, 1_800n]);
  assert.equal((await world.charge(charge)).settledAt, null);
  await world.clock.advance(dayMs);
  assert.equal(await settleDue(), 1);
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 2_000n]);
});

for (const [name, reserve, at36Hours] of [
  ['nothing', null, [0n, 18_000n, 0n, 2_000n]],
  ['its reserve', rule, [1_800n, 16_200n, 200n, 1_800n]],
] as const) {
  test(`a second payment accepted before the first is settled waits for its own delay, but for ${name}`, async () => {
    await world.close();
    await open(dayMs);
    if (reserve === null) {
      await clearReserve(world.db, { merchantId: world.merchant.id });
      await forgetMerchant();
    }
    const charge = await pay();
    await world.clock.advance(12 * hourMs);
    await applyResponse(world.context, charge, succeeded(charge, { transactionId: `second-${charge.id}` }));
    await resolveCase(charge, { kind: 'second_success', resolution: 'accept', reported: null });
    assert.deepEqual(await readBalances(), [18_000n, 0n, 2_000n, 0n]);
    await world.clock.advance(24 * hourMs - 1);
    await settleDue();
    assert.deepEqual(await readBalances(), [18_000n, 0n, 2_000n, 0n]);
    await world.clock.advance(1);
    assert.equal(await settleDue(), 1);
    assert.deepEqual(await readBalances(), at36Hours);
    await world.clock.advance(dayMs);
    await settleDue();
    assert.deepEqual(await readBalances(), [0n, 18_000n, 0n, 2_000n]);
  });
}

test('a refund uses its own payment’s reserve only, never that of other payments', async () => {
  const first = await pay();
  await pay();
  await world.refund(first);
  assert.deepEqual(await readBalances(), [800n, 7_200n, 200n, 1_800n]);
});

test('a reversal of paid-out money uses other payments’ reserves before it creates a debt', async () => {
  const first = await world.collect();
  await world.collect();
  await world.spendAllBut(0n);
  assert.equal(await world.balance('payable_pending'), 2_000n);
  await applyResponse(world.context, first, reversed(first, { transactionId: first.networkTransactionId ?? '' }));
  assert.equal(await world.balance('payable_pending'), 0n);
  assert.equal(await world.balance('receivable_merchant'), 8_000n);
});

test('reserve, partial reversals and deletion of a sub-account credit each butut once', async () => {
  const charge = await pay();
  const remove = () =>
    world.db.withTransaction((tx) => deleteSubAccount(tx, world.context.clock, world.merchant, shop));
  const inUse = (error: unknown) => error instanceof AppError && error.code === 'sub_account_in_use';
  // 80 and 20, a tenth of each in reserve: what waits is given first.
  await clawBackPart(charge, 4_000n);
  assert.deepEqual(await readBalances(), [0n, 4_800n, 0n, 1_200n]);
  const other = await pay();
  assert.deepEqual(await readBalances(), [800n, 12_000n, 200n, 3_000n]);
  await world.completePayout(shop, 3_000n);
  await assert.rejects(remove(), inUse, 'it has a share in reserve');
  await clawBackPart(other, 5_000n);
  assert.deepEqual(await readBalances(), [0n, 8_000n, 0n, 0n], 'what the sub-account lacks the merchant advances');
  assert.equal(await world.balance(`sub_owed:${shop}`), 800n);
  await assert.rejects(remove(), inUse, 'it owes');
  await world.clock.advance(48 * hourMs);
  await settleDue();
  await pay();
  assert.deepEqual(
    await readBalances(),
    [1_000n, 15_800n, 0n, 1_200n],
    'its next share repaid, what waits of it first',
  );
  await world.completePayout(shop, 1_200n);
  await world.clock.advance(48 * hourMs);
  await settleDue();
  await remove();
  await world.spendAllBut(1_000n);
  await clawBackPart(charge, 6_000n);
  assert.deepEqual([(await world.charge(charge)).status, await world.balance(`sub_owed:${shop}`)], ['reversed', 0n]);
  assert.deepEqual(await readBalances(), [0n, 0n, 0n, 0n], 'in the place of who is gone the merchant gives');
  assert.equal(await world.balance('receivable_merchant'), 5_000n);
});

test('a payment whose rest the network takes back after a refund is refunded, as in the other order', async () => {
  const [first, second] = [await world.collect(), await world.collect()];
  await world.refundReported(first, paidBack, 6_000n);
  await clawBackPart(first, 3_000n);
  assert.equal((await world.charge(first)).status, 'completed');
  await clawBackPart(first, 1_000n);
  await clawBackPart(second, 4_000n);
  await world.refundReported(second, paidBack, 6_000n);
  for (const charge of [first, second]) {
    const { status, amountRefundedMinor, amountReversedMinor } = await world.charge(charge);
    assert.deepEqual([status, amountRefundedMinor, amountReversedMinor], ['refunded', 6_000n, 4_000n]);
  }
});

test('a merchant that is no longer new gets no new reserve, and the held one is released on time', async () => {
  await pay();
  await clearReserve(world.db, { merchantId: world.merchant.id });
  await forgetMerchant();
  await pay();
  assert.deepEqual(await readBalances(), [800n, 15_200n, 200n, 3_800n]);
});

test('the default reserve is for live merchants, their own rule precedes it, and both expire', async () => {
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
