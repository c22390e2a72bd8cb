import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import { confirmResolution, listChoices, proposeResolution, type ResolveContext } from '../cases/resolve-case.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { paidBack, refused, splitWith } from '../refunds/refund-world.corpus.ts';
import { explainAccount } from '../settlement/balance-movements.ts';
import { settleBatch } from '../settlement/settle-batch.ts';
import { createDebtWorld, type DebtWorld } from './debt-world.corpus.ts';
import { createDebtResolvers } from './resolve-debt.ts';
import { listOwed } from './what-is-owed.ts';

let world: DebtWorld;

before(async () => {
  world = await createDebtWorld();
  await world.openConnections();
});

beforeEach(() => world.clear());

afterEach(() => world.verify());

after(() => world.close());

function withCode(code: string) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  };
}

async function owes(): Promise<bigint> {
  return (await world.own()).receivable_merchant;
}

test('over repeated collections, payouts and reversals new income repays the debt, and none grows', async () => {
  for (let round = 0; round < 3; round += 1) {
    const charge = await world.collect({ amountMinor: 10_000n });
    const { payable_available: available } = await world.own();
    if (available > 0n) await world.spendAllBut(0n);
    await world.reverse(charge);
    assert.equal(await owes(), 10_000n, `round ${round}`);
  }
});

test('a payment repays a debt in its own posting, keeps the rest, and its timeline says so', async () => {
  await world.fallIntoDebt(7_800n);
  const charge = await world.collect({ amountMinor: 10_000n });
  assert.deepEqual(await world.own(), { payable_available: 2_200n, payable_pending: 0n, receivable_merchant: 0n });
  assert.deepEqual((await world.movements(charge)).toSorted(), [
    'collected float:rail-aps → payable_available 10000',
    'debt_repaid payable_available → receivable_merchant 7800',
  ]);
  assert.ok((await world.notes(charge)).includes('debt_repaid'));
  const reported = (await listEventsOfObjects(world.db, charge.merchantId, [charge.id])).at(-1);
  assert.deepEqual([reported?.kind, reported?.record['debt_repaid']], ['charge.succeeded', 78]);
  assert.equal((await world.record(charge))['debt_repaid'], 78, 'the charge’s record says the same');
  await world.refundSent(charge);
  assert.equal((await world.record(charge))['debt_repaid'], 78, 'what it repaid once, whatever comes later');
  const other = await world.collect({ amountMinor: 500n });
  assert.equal((await world.record(other))['debt_repaid'], 5, 'it repays what the refund has opened again');
  await world.collect({ amountMinor: 10_000n });
  assert.ok(!('debt_repaid' in (await world.record(await world.collect()))), 'left out where nothing was owed');
});

test('the ledger names the payment behind each part of a debt and of its repayment', async () => {
  const lost = await world.fallIntoDebt(10_000n);
  const first = await world.collect({ amountMinor: 4_000n });
  const query = { account: 'receivable_merchant', at: null, before: null, rowsMax: 2 } as const;
  const { lines, balanceMinor } = await explainAccount(world.db, world.merchant, query);
  assert.equal(balanceMinor, 6_000n);
  assert.deepEqual(
    lines.map(({ flow, source, changeMinor }) => [flow, source.id, changeMinor]),
    [
      ['debt_repaid', first.id, -4_000n],
      ['reversed', lost.id, 10_000n],
    ],
  );
});

test('a transfer is refused with the amount while the merchant owes, and accepted once it is repaid', async () => {
  await world.fallIntoDebt(10_000n);
  await world.collect({ amountMinor: 4_000n });
  await assert.rejects(
    world.transferOut(100n),
    (error) => withCode('merchant_owes')(error) && /D60\.00/.test(String(error)),
  );
  await world.collect({ amountMinor: 6_500n });
  const { amountMinor } = await world.transferOut(500n);
  assert.equal(amountMinor, 500n);
});

test('a transfer repays the debt first, so money that came in beside a debt is not paid out', async () => {
  await world.fallIntoDebt(10_000n);
  await world.post({ debit: 'float:rail-aps', credit: 'payable_available', amountMinor: 9_000n });
  await assert.rejects(world.transferOut(5_000n), withCode('merchant_owes'));
  await world.post({ debit: 'float:rail-aps', credit: 'payable_available', amountMinor: 2_000n });
  await assert.rejects(world.transferOut(2_000n), withCode('insufficient_balance'));
  await world.transferOut(1_000n);
  assert.deepEqual(await world.own(), { payable_available: 0n, payable_pending: 0n, receivable_merchant: 0n });
});

test('a chore repays debts left over, and concurrent runs never repay too much', async () => {
  await world.fallIntoDebt(10_000n);
  await world.post({ debit: 'float:rail-aps', credit: 'payable_available', amountMinor: 12_000n });
  await Promise.all([world.syncDebts(), world.syncDebts(), world.syncDebts()]);
  assert.deepEqual(await world.own(), { payable_available: 2_000n, payable_pending: 0n, receivable_merchant: 0n });
  assert.equal(await world.syncDebts(), 0, 'at rest there is nothing to do');
});

test('concurrent payments to a merchant in debt do not wait for each other and repay at most what is owed', async () => {
  await world.fallIntoDebt(10_000n);
  await Promise.all(Array.from({ length: 8 }, () => world.collect({ amountMinor: 4_000n })));
  await world.syncDebts();
  assert.deepEqual(await world.own(), { payable_available: 22_000n, payable_pending: 0n, receivable_merchant: 0n });
});

test('a payment is collected while another transaction holds the locks of the debt and the balance', async () => {
  await world.fallIntoDebt(10_000n);
  const { id: merchantId } = world.merchant;
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = world.db.withTransaction(async (tx) => {
    const text = 'SELECT account FROM ledger_accounts WHERE merchant_id = $1 FOR UPDATE';
    await tx.rows({ name: 'test_hold_all', text, values: [merchantId] });
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const charge = await world.collect({ amountMinor: 4_000n });
  assert.equal(charge.status, 'completed');
  release.resolve();
  await holder;
  assert.equal(await owes(), 10_000n);
  await world.syncDebts();
  assert.equal(await owes(), 6_000n);
});

test('a refund of the payment that repaid a debt reopens it, and a failed refund repays it again', async () => {
  await world.fallIntoDebt(7_800n);
  const charge = await world.collect({ amountMinor: 10_000n });
  const refund = await world.refund(charge);
  assert.deepEqual(await world.own(), { payable_available: 0n, payable_pending: 0n, receivable_merchant: 7_800n });
  await world.work();
  await world.report(refund, refused());
  await world.syncDebts();
  assert.deepEqual(await world.own(), { payable_available: 2_200n, payable_pending: 0n, receivable_merchant: 0n });
  const again = await world.refundSent(charge);
  await world.report(again, paidBack(again));
  assert.equal(await owes(), 7_800n, 'as before the payment');
});

test('a refund of a payment that repaid nothing is refused while the merchant owes', async () => {
  const before = await world.collect({ amountMinor: 5_000n });
  await world.fallIntoDebt(7_800n);
  await assert.rejects(world.refund(before), withCode('insufficient_balance'));
  assert.equal(await owes(), 7_800n);
});

test('each repayment names its payment once, so that a refund reopens only its own', async () => {
  const [older, newer] = [await world.collect({ amountMinor: 5_000n }), await world.collect({ amountMinor: 5_000n })];
  for (const amountMinor of [4_000n, 6_000n]) {
    await world.post({ debit: 'receivable_merchant', credit: 'bank', amountMinor });
    await world.syncDebts();
  }
  assert.deepEqual(await world.own(), { payable_available: 0n, payable_pending: 0n, receivable_merchant: 0n });
  for (const charge of [older, newer]) await world.refundSent(charge);
  assert.equal(await owes(), 10_000n);
});

test('a mismatch accepted while the merchant owes repays the debt, and locks no account after it', async () => {
  await world.fallIntoDebt(7_800n);
  const { charge } = await world.create({ network: 'aps' });
  const transactionId = `other-${charge.id}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId, amountMinor: 9_000n }));
  const found = (await listCases(world.db, 'open', 1_000, null)).find(({ subjectId }) => subjectId === charge.id);
  assert.ok(found);
  const context = { ...resolving(), resolvers: createChargeResolvers(world.context) };
  const evidence = 'The payer was asked on 22 November.';
  const proposal = { caseId: found.id, resolution: 'accept', evidence, reported: null, operatorId: proposer };
  await proposeResolution(context, proposal);
  await confirmResolution(context, { caseId: found.id, operatorId: confirmer });
  assert.equal((await world.own()).receivable_merchant, 0n);
});

test('a refund reopens no more debt than its own payment repaid', async () => {
  await world.fallIntoDebt(10_000n);
  const small = await world.collect({ amountMinor: 3_000n });
  await world.collect({ amountMinor: 7_000n });
  for (const part of [2_000n, 1_000n]) await world.refundSent(small, part);
  assert.equal(await owes(), 3_000n);
  await assert.rejects(world.refund(small, 1n), withCode('refund_not_possible'));
});

test('a sub-account payout works while the merchant owes; its fee adds to the debt and is returned', async () => {
  const { members } = await world.newGroup(50, 30);
  const [subAccountId = '', other = ''] = members;
  for (const id of members) await world.collect({ amountMinor: 10_000n, split: splitWith({ subAccountId: id }) });
  await world.fallIntoDebt(7_800n);
  const owner = await world.setPayoutFee(100n);
  const payout = await world.requestPayout(subAccountId, 2_000n, owner);
  assert.deepEqual([payout.amountMinor, payout.feeMinor, await owes()], [2_000n, 100n, 7_900n]);
  await world.work();
  await world.report(payout, refused());
  await world.syncDebts();
  assert.equal(await owes(), 7_800n);
  const totals = await world.db.withTransaction((tx) =>
    settleBatch(tx, world.context, owner, { period: '2026-11-22', subAccountIds: [subAccountId, other] }),
  );
  assert.deepEqual([totals.payouts, await owes()], [2, 8_000n]);
  await world.setPayoutFee(0n);
});

const [proposer, confirmer] = ['0199aaaa-0000-7000-8000-000000000001', '0199aaaa-0000-7000-8000-000000000002'];

function resolving(): ResolveContext {
  const resolvers = createDebtResolvers(world.context);
  return { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
}

async function openDebtCase() {
  const cases = await listCases(world.db, 'open', 1_000, null);
  return cases.find(({ kind }) => kind === 'merchant_owes');
}

test('a debt has one case with its amount and age, updated until it is repaid', async () => {
  await world.fallIntoDebt(7_800n);
  await Promise.all([world.syncDebts(), world.syncDebts()]);
  const opened = await openDebtCase();
  assert.equal(opened?.amountMinor, 7_800n);
  await world.clock.advance(60_000);
  await world.collect({ amountMinor: 800n });
  await world.syncDebts();
  assert.deepEqual([(await openDebtCase())?.id, (await openDebtCase())?.amountMinor], [opened.id, 7_000n]);
  const [owed] = (await listOwed(world.db)).filter(({ kind }) => kind === 'receivable_merchant');
  assert.deepEqual([owed?.amountMinor, world.clock.now().getTime() - Number(owed?.since)], [7_000n, 60_000]);
  await world.collect({ amountMinor: 7_000n });
  await world.syncDebts();
  assert.equal(await openDebtCase(), undefined);
});

for (const [resolution, reported, left, account] of [
  ['write_off', null, 0n, 'capital'],
  ['recovered', { transactionId: 'BANK-1', amountMinor: 5_000n }, 2_800n, 'bank'],
] as const) {
  test(`two operators end a debt as ${resolution}: it is booked against ${account}`, async () => {
    await world.fallIntoDebt(7_800n);
    await world.syncDebts();
    const found = await openDebtCase();
    assert.ok(found);
    const context = resolving();
    assert.deepEqual(
      (await listChoices(context, found)).map(({ refusal }) => refusal),
      [null, null],
    );
    const before = await world.balance(account);
    const evidence = 'Agreed with the merchant on 22 November.';
    await proposeResolution(context, { caseId: found.id, resolution, evidence, reported, operatorId: proposer });
    assert.equal(await owes(), 7_800n, 'one alone does nothing');
    await confirmResolution(context, { caseId: found.id, operatorId: confirmer });
    assert.equal(await owes(), left);
    const changed = (await world.balance(account)) - before;
    assert.equal(changed < 0n ? -changed : changed, 7_800n - left);
    await world.syncDebts();
    assert.equal((await openDebtCase())?.amountMinor ?? 0n, left, 'what is left has a case again');
  });
}

test('a debt that was repaid meanwhile is not written off', async () => {
  await world.fallIntoDebt(7_800n);
  await world.syncDebts();
  const found = await openDebtCase();
  assert.ok(found);
  const evidence = 'Agreed with the merchant on 22 November.';
  const proposal = { caseId: found.id, resolution: 'write_off', evidence, reported: null, operatorId: proposer };
  await proposeResolution(resolving(), proposal);
  await world.collect({ amountMinor: 9_000n });
  const confirmed = confirmResolution(resolving(), { caseId: found.id, operatorId: confirmer });
  await assert.rejects(confirmed, withCode('state_conflict'));
  assert.deepEqual(await world.own(), { payable_available: 1_200n, payable_pending: 0n, receivable_merchant: 0n });
});
