import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { AppError } from '../kit/app-error.ts';
import { setFeeRule } from '../merchants/manage-rules.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import { listCases } from '../cases/list-cases.ts';
import { broughtBack, paidBack, refused, splitWith, transactionOf } from '../refunds/refund-world.corpus.ts';
import type { Refund } from '../refunds/refund.ts';
import { createPayout } from '../settlement/create-payout.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import { createDebtWorld } from './debt-world.corpus.ts';
import type { DebtWorld } from './debt-world.corpus.ts';

// A waiver and a write-off end a claim that nobody has paid. What comes back of it later belongs to whoever bore it.

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

/** What the merchant can spend, what it owes, and what the operator has lost since the test began, in bututs. */
async function standing(): Promise<bigint[]> {
  const { payable_available: has, receivable_merchant: owes } = await world.own();
  return [has, owes, capitalBefore - (await world.balance('capital'))];
}

/** What the sub-account has and what it owes the merchant, in bututs. */
async function ofAwa(): Promise<bigint[]> {
  return [await world.balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)];
}

const payShared = () => world.collect({ amountMinor: 10_000n, split: splitWith({ subAccountId: awa }) });

/** A refund under way for which the merchant gives all of its 100.00, because the sub-account was paid out. */
async function advanceForRefund(): Promise<Refund> {
  const charge = await payShared();
  await world.completePayout(awa, 2_000n);
  await world.collect({ amountMinor: 2_000n });
  return world.refundSent(charge);
}

/** A payout of 20.00 that failed, whose money went out by another one. */
async function payOutTwice(): Promise<Transfer> {
  await payShared();
  const payout = await world.orderPayout(awa, 2_000n);
  await world.work();
  await world.tell(payout, refused());
  await world.completePayout(awa, 2_000n);
  return payout;
}

/** A transfer that failed and was paid after its money had gone elsewhere: the merchant owes all of it. */
async function lateTransfer(amountMinor = 10_000n): Promise<Transfer> {
  await world.collect({ amountMinor });
  const transfer = await world.transferOut(amountMinor);
  await world.work();
  await world.tell(transfer, refused());
  await world.spendAllBut(0n);
  await world.tell(transfer, paidBack(transfer));
  assert.deepEqual(await standing(), [0n, amountMinor, 0n]);
  return transfer;
}

/** Two operators book a part that the network gave back. */
async function bringPart(transfer: Transfer, amountMinor: bigint): Promise<void> {
  await world.tell(transfer, { state: 'reversed', providerTransaction: transactionOf(transfer, { amountMinor }) });
  const found = (await listCases(world.db, 'open', 1_000)).find(
    ({ subjectId, kind }) => subjectId === transfer.id && kind === 'partial_reversal',
  );
  const resolvers = createTransferResolvers(world.context);
  const resolver = resolvers.find((one) => one.kind === 'partial_reversal' && one.resolution === 'reversed');
  assert.ok(found && resolver);
  const carryOut = await resolver.prepare(found, { transactionId: transactionOf(transfer).transactionId, amountMinor });
  await world.db.withTransaction((tx) => carryOut(tx, { found, operatorId: found.id } as never));
}

test('a late payout that comes back after its waiver repays the merchant’s debt, not the sub-account', async () => {
  const payout = await payOutTwice();
  await world.tell(payout, paidBack(payout));
  assert.deepEqual(await ofAwa(), [0n, 2_000n]);
  await world.waive(awa, 2_000n);
  await world.fallIntoDebt(7_800n);
  await world.tell(payout, broughtBack(payout));
  await world.follow();
  assert.deepEqual(await ofAwa(), [0n, 0n], 'a waiver gives no claim');
  assert.deepEqual(await standing(), [0n, 5_800n, 0n]);
});

test('a refund that fails after its advance was waived leaves the money with the merchant', async () => {
  const refund = await advanceForRefund();
  assert.deepEqual(await ofAwa(), [0n, 2_000n]);
  await world.waive(awa, 2_000n);
  await world.tell(refund, refused());
  assert.deepEqual(await ofAwa(), [0n, 0n]);
  assert.deepEqual(await standing(), [10_000n, 0n, 0n], 'all that was held');
});

test('of an advance that was repaid in part and waived in part, the repaid part alone is given back', async () => {
  const refund = await advanceForRefund();
  await world.collect({ amountMinor: 2_500n, split: splitWith({ subAccountId: awa }) });
  assert.deepEqual(await ofAwa(), [0n, 1_500n], 'a share of 5.00 repaid that much');
  await world.waive(awa, 1_500n);
  await world.tell(refund, refused());
  assert.deepEqual(await ofAwa(), [500n, 0n]);
});

test('a waiver is refused while the merchant owes', async () => {
  const payout = await payOutTwice();
  await world.spendAllBut(0n);
  await world.tell(payout, paidBack(payout));
  const isRefused = (error: unknown) => error instanceof AppError && error.code === 'merchant_owes';
  await assert.rejects(world.waive(awa, 1n), isRefused);
  assert.deepEqual(await ofAwa(), [0n, 2_000n]);
});

test('a late transfer whose debt was written off gives its money to the operator when it comes back', async () => {
  const transfer = await lateTransfer();
  await world.writeOff(10_000n);
  assert.deepEqual(await standing(), [0n, 0n, 10_000n]);
  await world.tell(transfer, broughtBack(transfer));
  assert.deepEqual(await standing(), [0n, 0n, 0n]);
});

test('a debt that was repaid in part and written off in part comes back to each as they gave', async () => {
  const transfer = await lateTransfer();
  await world.collect({ amountMinor: 4_000n });
  await world.writeOff(10_000n);
  assert.deepEqual(await standing(), [0n, 0n, 6_000n]);
  await bringPart(transfer, 5_000n);
  assert.deepEqual(await standing(), [0n, 0n, 1_000n], 'the operator’s first');
  await bringPart(transfer, 5_000n);
  assert.deepEqual(await standing(), [4_000n, 0n, 0n]);
});

test('a write-off is of the newest debt, so that an older one that was repaid comes back to the merchant', async () => {
  const repaid = await lateTransfer(3_000n);
  await world.collect({ amountMinor: 3_000n });
  const writtenOff = await lateTransfer(5_000n);
  await world.writeOff(5_000n);
  await world.tell(repaid, broughtBack(repaid));
  assert.deepEqual(await standing(), [3_000n, 0n, 5_000n]);
  await world.tell(writtenOff, broughtBack(writtenOff));
  assert.deepEqual(await standing(), [3_000n, 0n, 0n]);
});

test('what a late transfer took of the balance makes up for its write-off when only a part comes back', async () => {
  await world.collect({ amountMinor: 10_000n });
  const transfer = await world.transferOut(10_000n);
  await world.work();
  await world.tell(transfer, refused());
  await world.spendAllBut(4_000n);
  await world.tell(transfer, paidBack(transfer));
  await world.writeOff(6_000n);
  await bringPart(transfer, 6_000n);
  assert.deepEqual(await standing(), [0n, 0n, 0n]);
  await bringPart(transfer, 4_000n);
  assert.deepEqual(await standing(), [4_000n, 0n, 0n]);
});

for (const [how, response] of [
  ['fails', refused],
  ['is brought back', broughtBack],
] as const) {
  test(`a refund whose reopened debt was written off gives it to the operator when it ${how}`, async () => {
    await world.fallIntoDebt(7_800n);
    const charge = await world.collect({ amountMinor: 10_000n });
    const refund = await world.refundSent(charge);
    if (how === 'is brought back') await world.tell(refund, paidBack(refund));
    assert.deepEqual(await standing(), [0n, 7_800n, 0n]);
    await world.writeOff(7_800n);
    await world.tell(refund, response(refund));
    assert.deepEqual(await standing(), [2_200n, 0n, 0n]);
  });
}

test('a payout’s fee that was owed and written off is the operator’s when the payout fails', async () => {
  await payShared();
  await world.fallIntoDebt(7_800n);
  await world.writeOff(7_700n);
  const rule = { percentHundredths: 0n, fixedMinor: 100n, minimumMinor: 0n, maximumMinor: null };
  const fees = { ...rule, operation: 'transfer', network: 'wave' } as const;
  await setFeeRule(world.db, { merchantId: world.merchant.id }, fees);
  const owner = await createMerchantDirectory(world.db, world.clock).byId(world.merchant.id);
  assert.ok(owner);
  const payout = await world.db.withTransaction((tx) =>
    createPayout(tx, world.context, owner, { subAccountId: awa, amountMinor: 2_000n }),
  );
  await setFeeRule(world.db, { merchantId: world.merchant.id }, { ...fees, fixedMinor: 0n });
  await world.writeOff(200n);
  assert.deepEqual(await standing(), [0n, 0n, 7_900n]);
  await world.work();
  await world.tell(payout, refused());
  assert.deepEqual(await standing(), [0n, 0n, 7_800n]);
  assert.deepEqual(await ofAwa(), [2_000n, 0n]);
});

test('a payout that was owed by both comes back to the operator, and the merchant gives what was repaid to it', async () => {
  const payout = await payOutTwice();
  await world.spendAllBut(0n);
  await world.tell(payout, paidBack(payout));
  await world.writeOff(2_000n);
  await payShared();
  assert.deepEqual(
    [await ofAwa(), await standing()],
    [
      [0n, 0n],
      [10_000n, 0n, 2_000n],
    ],
  );
  await world.tell(payout, broughtBack(payout));
  assert.deepEqual(
    [await ofAwa(), await standing()],
    [
      [2_000n, 0n],
      [8_000n, 0n, 0n],
    ],
  );
});
