import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { reversedPayout, paidBack, refused, splitWith, transactionOf } from '../refunds/refund-world.corpus.ts';
import type { Refund } from '../refunds/refund.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { createDebtWorld, type DebtWorld } from './debt-world.corpus.ts';

// A waiver and a write-off end a claim that was not paid. What is recovered of it later belongs to whoever bore the loss.

let world: DebtWorld;
let awa: string;
let capitalBefore: bigint;

before(async () => {
  world = await createDebtWorld();
  await world.openConnections();
});

beforeEach(async () => {
  await world.clear();
  awa = await world.newSubAccount(20);
  capitalBefore = await world.balance('capital');
});

afterEach(() => world.verify());

after(() => world.close());

/** The merchant's balance and debt, and the operator's loss since the test began, in bututs. */
async function merchantPosition(): Promise<bigint[]> {
  const { payable_available: has, receivable_merchant: owes } = await world.own();
  return [has, owes, capitalBefore - (await world.balance('capital'))];
}

/** The sub-account's balance and its debt to the merchant, in bututs. */
async function awaPosition(): Promise<bigint[]> {
  return [await world.balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)];
}

const payShared = () => world.collect({ amountMinor: 10_000n, split: splitWith({ subAccountId: awa }) });

/** A pending refund for which the merchant gives all of its 100.00, because the sub-account was paid out. */
async function advanceForRefund(): Promise<Refund> {
  const charge = await payShared();
  await world.completePayout(awa, 2_000n);
  await world.collect({ amountMinor: 2_000n });
  return world.refundSent(charge);
}

/** A payout of 20.00 that failed, after which another one paid the money out. */
async function payOutTwice(): Promise<Transfer> {
  await payShared();
  const payout = await world.acceptPayout(awa, 2_000n);
  await world.work();
  await world.report(payout, refused());
  await world.completePayout(awa, 2_000n);
  return payout;
}

/** A transfer that failed and was paid after the merchant had spent its money: the merchant owes all of it. */
async function lateTransfer(amountMinor = 10_000n): Promise<Transfer> {
  await world.collect({ amountMinor });
  const transfer = await world.transferOut(amountMinor);
  await world.work();
  await world.report(transfer, refused());
  await world.spendAllBut(0n);
  await world.report(transfer, paidBack(transfer));
  assert.deepEqual(await merchantPosition(), [0n, amountMinor, 0n]);
  return transfer;
}

/** Two operators book a part that the network reversed. */
async function reversePart(transfer: Transfer, amountMinor: bigint): Promise<void> {
  const providerTransaction = transactionOf(transfer, { amountMinor });
  await world.report(transfer, { state: 'reversed', providerTransaction });
  const { transactionId } = providerTransaction;
  await world.resolveCase(
    transfer,
    { kind: 'partial_reversal', resolution: 'reversed' },
    { transactionId, amountMinor },
  );
}

test('a late payout that is reversed after its waiver repays the merchant’s debt, not the sub-account', async () => {
  const payout = await payOutTwice();
  await world.report(payout, paidBack(payout));
  assert.deepEqual(await awaPosition(), [0n, 2_000n]);
  await world.waive(awa, 2_000n);
  await world.fallIntoDebt(7_800n);
  await world.report(payout, reversedPayout(payout));
  await world.syncDebts();
  assert.deepEqual(await awaPosition(), [0n, 0n], 'a waiver gives no claim');
  assert.deepEqual(await merchantPosition(), [0n, 5_800n, 0n]);
});

test('a refund that fails after its advance was waived leaves the money with the merchant', async () => {
  const refund = await advanceForRefund();
  assert.deepEqual(await awaPosition(), [0n, 2_000n]);
  await world.waive(awa, 2_000n);
  await world.report(refund, refused());
  assert.deepEqual(await awaPosition(), [0n, 0n]);
  assert.deepEqual(await merchantPosition(), [10_000n, 0n, 0n], 'all that was held');
});

test('of an advance that was partly repaid and partly waived, only the repaid part is returned', async () => {
  const refund = await advanceForRefund();
  await world.collect({ amountMinor: 2_500n, split: splitWith({ subAccountId: awa }) });
  assert.deepEqual(await awaPosition(), [0n, 1_500n], 'a share of 5.00 repaid that much');
  await world.waive(awa, 1_500n);
  await world.report(refund, refused());
  assert.deepEqual(await awaPosition(), [500n, 0n]);
});

test('a waiver is refused while the merchant owes', async () => {
  const payout = await payOutTwice();
  await world.spendAllBut(0n);
  await world.report(payout, paidBack(payout));
  const isRefused = (error: unknown) => error instanceof AppError && error.code === 'merchant_owes';
  await assert.rejects(world.waive(awa, 1n), isRefused);
  assert.deepEqual(await awaPosition(), [0n, 2_000n]);
});

test('the reversal of a late transfer whose debt was written off goes to the operator', async () => {
  const transfer = await lateTransfer();
  await world.writeOff(10_000n);
  assert.deepEqual(await merchantPosition(), [0n, 0n, 10_000n]);
  await world.report(transfer, reversedPayout(transfer));
  assert.deepEqual(await merchantPosition(), [0n, 0n, 0n]);
});

test('the reversal of a debt that was partly repaid and partly written off returns to each what it bore', async () => {
  const transfer = await lateTransfer();
  await world.collect({ amountMinor: 4_000n });
  await world.writeOff(10_000n);
  assert.deepEqual(await merchantPosition(), [0n, 0n, 6_000n]);
  await reversePart(transfer, 5_000n);
  assert.deepEqual(await merchantPosition(), [0n, 0n, 1_000n], 'the operator’s first');
  await reversePart(transfer, 5_000n);
  assert.deepEqual(await merchantPosition(), [4_000n, 0n, 0n]);
});

test('a write-off ends the newest debt, so the reversal of an older, repaid one goes to the merchant', async () => {
  const repaid = await lateTransfer(3_000n);
  await world.collect({ amountMinor: 3_000n });
  const writtenOff = await lateTransfer(5_000n);
  await world.writeOff(5_000n);
  await world.report(repaid, reversedPayout(repaid));
  assert.deepEqual(await merchantPosition(), [3_000n, 0n, 5_000n]);
  await world.report(writtenOff, reversedPayout(writtenOff));
  assert.deepEqual(await merchantPosition(), [3_000n, 0n, 0n]);
});

test('a partial reversal of a late transfer makes up for its write-off before it returns to the balance', async () => {
  await world.collect({ amountMinor: 10_000n });
  const transfer = await world.transferOut(10_000n);
  await world.work();
  await world.report(transfer, refused());
  await world.spendAllBut(4_000n);
  await world.report(transfer, paidBack(transfer));
  await world.writeOff(6_000n);
  await reversePart(transfer, 6_000n);
  assert.deepEqual(await merchantPosition(), [0n, 0n, 0n]);
  await reversePart(transfer, 4_000n);
  assert.deepEqual(await merchantPosition(), [4_000n, 0n, 0n]);
});

for (const [how, response] of [
  ['fails', refused],
  ['is reversed', reversedPayout],
] as const) {
  test(`a refund whose reopened debt was written off returns it to the operator when it ${how}`, async () => {
    await world.fallIntoDebt(7_800n);
    const charge = await world.collect({ amountMinor: 10_000n });
    const refund = await world.refundSent(charge);
    if (how === 'is reversed') await world.report(refund, paidBack(refund));
    assert.deepEqual(await merchantPosition(), [0n, 7_800n, 0n]);
    await world.writeOff(7_800n);
    await world.report(refund, response(refund));
    assert.deepEqual(await merchantPosition(), [2_200n, 0n, 0n]);
  });
}

test('what a refund did not pay returns to the operator who wrote off its reopened debt', async () => {
  await world.fallIntoDebt(7_800n);
  const refund = await world.refundSent(await world.collect({ amountMinor: 10_000n }));
  await world.writeOff(7_800n);
  await world.report(refund, paidBack(refund, { amountMinor: 6_000n }));
  await world.resolveCase(refund, { kind: 'amount_mismatch', resolution: 'accept' });
  assert.deepEqual(await merchantPosition(), [0n, 0n, 3_800n]);
});

test('a payout’s fee that was owed and written off is the operator’s when the payout fails', async () => {
  await payShared();
  await world.fallIntoDebt(7_800n);
  await world.writeOff(7_700n);
  const payout = await world.requestPayout(awa, 2_000n, await world.setPayoutFee(100n));
  await world.setPayoutFee(0n);
  await world.writeOff(200n);
  assert.deepEqual(await merchantPosition(), [0n, 0n, 7_900n]);
  await world.work();
  await world.report(payout, refused());
  assert.deepEqual(await merchantPosition(), [0n, 0n, 7_800n]);
  assert.deepEqual(await awaPosition(), [2_000n, 0n]);
});

test('the reversal of a payout that both owe goes to the operator; the merchant returns what was repaid', async () => {
  const payout = await payOutTwice();
  await world.spendAllBut(0n);
  await world.report(payout, paidBack(payout));
  await world.writeOff(2_000n);
  await payShared();
  assert.deepEqual(
    [await awaPosition(), await merchantPosition()],
    [
      [0n, 0n],
      [10_000n, 0n, 2_000n],
    ],
  );
  await world.report(payout, reversedPayout(payout));
  assert.deepEqual(
    [await awaPosition(), await merchantPosition()],
    [
      [2_000n, 0n],
      [8_000n, 0n, 0n],
    ],
  );
});
