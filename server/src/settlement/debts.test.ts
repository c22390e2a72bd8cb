import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { countOpenCases, listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { CaseResolver, ReportedMoney } from '../cases/resolution.ts';
import { AppError } from '../api/app-error.ts';
import { sumSuspense } from '../ledger/balances.ts';
import { post } from '../ledger/post.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import {
  reversedPayout,
  createRefundWorld,
  paidBack,
  transactionOf as receiptOfPayout,
  refused,
  splitWith,
  type RefundWorld,
} from '../refunds/refund-world.corpus.ts';
import { owedAccount } from '../sub-accounts/ledger-accounts.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import { createPayout } from './create-payout.ts';
import { deleteSubAccount } from './delete-sub-account.ts';
import { repaySubAccountDebts } from './repay-debts.ts';
import { readSubAccountStatement } from './statement.ts';
import { waiveDebt } from './waive-debt.ts';

let world: RefundWorld;
let awa: string;

before(async () => {
  world = await createRefundWorld();
});
beforeEach(async () => {
  awa = await world.newSubAccount(20);
});
afterEach(() => world.verify());
after(() => world.close());

/** `balance, debt` of the sub-account in bututs. */
async function balanceAndDebt(): Promise<bigint[]> {
  return [await world.balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)];
}

function pay(): Promise<Charge> {
  return world.collect({ split: splitWith({ subAccountId: awa }) });
}

/** The sub-account owes 20.00: its share was being paid out when the payment was refunded. */
async function owing() {
  const charge = await pay();
  const payout = await world.acceptPayout(awa, 2_000n);
  await world.work();
  await world.refundReported(charge, paidBack);
  assert.deepEqual(await balanceAndDebt(), [0n, 2_000n]);
  return payout;
}

function withCode(code: string, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

const orderAll = () =>
  world.db.withTransaction((tx) =>
    createPayout(tx, world.context, world.merchant, { subAccountId: awa, amountMinor: null }),
  );

const waive = (amountMinor: bigint) =>
  world.db.withTransaction((tx) => waiveDebt(tx, world.context, world.merchant, { subAccountId: awa, amountMinor }));

test('a failed payout repays the merchant’s advance first, and returns the rest to the sub-account', async () => {
  await pay();
  await world.completePayout(awa, 500n);
  const payout = await otherDebts(1_500n);
  const before = await world.balance('payable_available');
  await world.report(payout, refused());
  assert.deepEqual(await balanceAndDebt(), [0n, 500n]);
  assert.equal(await world.balance('payable_available'), before + 1_500n);

  async function otherDebts(heldMinor: bigint) {
    const charge = await pay();
    const order = await world.acceptPayout(awa, heldMinor);
    await world.completePayout(awa, await world.balance(`sub:${awa}`));
    await world.work();
    await world.refundReported(charge, paidBack);
    assert.deepEqual(await balanceAndDebt(), [0n, 2_000n]);
    return order;
  }
});

test('a payout that the network reverses repays the merchant’s advance first', async () => {
  const payout = await owing();
  await world.report(payout, paidBack(payout));
  await world.report(payout, reversedPayout(payout));
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
});

test('a payout paid after its failure creates a debt, and its reversal ends the debt', async () => {
  const payout = await owing();
  await world.report(payout, refused());
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
  const before = await world.balance('payable_available');
  await world.report(payout, paidBack(payout));
  assert.deepEqual(await balanceAndDebt(), [0n, 2_000n], 'the merchant gave it in the sub-account’s place');
  assert.equal(await world.balance('payable_available'), before - 2_000n);
  await world.report(payout, reversedPayout(payout));
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
  assert.equal(await world.balance('payable_available'), before);
});

test('a failed refund returns a share less what the sub-account owes for another refund', async () => {
  const [first, second] = [await pay(), await pay()];
  await world.completePayout(awa, 3_000n);
  const failing = await world.refundSent(first);
  await world.refundReported(second, paidBack);
  assert.deepEqual(await balanceAndDebt(), [0n, 3_000n]);
  await world.report(failing, refused());
  assert.deepEqual(await balanceAndDebt(), [0n, 1_000n]);
});

test('a payout of a sub-account in debt is refused, and its money repays the debt first', async () => {
  await owing();
  await assert.rejects(orderAll(), withCode('balance_below_minimum', /It owes you D20\.00/));
  // Money and debt that came at one moment, so that neither saw the other.
  await world.post({ debit: 'float:rail-wave', credit: `sub:${awa}`, amountMinor: 5_000n });
  const payout = await orderAll();
  assert.equal(payout.amountMinor, 3_000n);
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
});

test('a chore repays a debt that a concurrent credit missed', async () => {
  await owing();
  await world.post({ debit: 'float:rail-wave', credit: `sub:${awa}`, amountMinor: 1_500n });
  assert.equal(await repaySubAccountDebts(world.context), 1);
  assert.deepEqual(await balanceAndDebt(), [0n, 500n]);
  assert.equal(await repaySubAccountDebts(world.context), 0);
});

test('the deletion of a sub-account in debt is refused until the debt is repaid or waived', async () => {
  const payout = await owing();
  await world.report(payout, paidBack(payout));
  const remove = () => world.db.withTransaction((tx) => deleteSubAccount(tx, world.context.clock, world.merchant, awa));
  await assert.rejects(remove, withCode('sub_account_in_use', /still owes you D20\.00.*waive-debt/));
  const due = await world.balance('due_from_subs');
  await assert.rejects(waive(2_001n), withCode('amount_out_of_bounds', /owes you D20\.00/));
  await waive(500n);
  assert.deepEqual(await balanceAndDebt(), [0n, 1_500n], 'no more than was named');
  await waive(1_500n);
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
  assert.equal(await world.balance('due_from_subs'), due - 2_000n);
  await remove();
});

test('a debt with more sources than can be waived at once names the amount to waive first', async () => {
  await world.db.withTransaction(async (tx) => {
    for (let advance = 0; advance < 1_001; advance += 1) {
      const source = { type: 'charge', id: world.context.newId() };
      const movements = [{ debit: owedAccount(awa), credit: 'due_from_subs', amountMinor: 100n }] as const;
      const { id: merchantId, currency } = world.merchant;
      await post(tx, world.context, { merchantId, currency, flow: 'advanced', source, movements, at: new Date() });
    }
  });
  await assert.rejects(waive(100_100n), withCode('amount_out_of_bounds', /Waive D1,000\.00 first/));
  assert.deepEqual(await balanceAndDebt(), [0n, 100_100n], 'a refused waiver changes nothing');
  await waive(100_000n);
  await waive(100n);
  assert.deepEqual(await balanceAndDebt(), [0n, 0n]);
});

test('the statement shows the debt and its repayments', async () => {
  await owing();
  const read = () =>
    readSubAccountStatement(
      world.db,
      world.merchant,
      { subAccountId: awa, from: null, to: null },
      { after: null, rowsMax: 100 },
    );
  assert.equal((await read()).owedMinor, 2_000n);
  await world.clock.advance(1_000);
  await pay();
  const after = await read();
  assert.deepEqual([after.owedMinor, after.closingMinor, after.lines.at(-1)?.kind], [0n, 0n, 'repayment']);
});

test('a suspended share of a deleted sub-account goes to the merchant by its case, even if reversed', async () => {
  const { charge } = await world.create({ split: splitWith({ subAccountId: awa }), network: 'aps' });
  await world.work();
  await world.clock.advance(31 * 60_000);
  await world.db.withTransaction((tx) => deleteSubAccount(tx, world.context.clock, world.merchant, awa));
  const start = await merchantHas();
  const transactionId = `late-${charge.id}`;
  await applyResponse(world.context, charge, {
    state: 'succeeded',
    providerTransaction: providerTransaction(charge, transactionId),
  });
  assert.deepEqual(await sumSuspense(world.db), [{ currency: 'GMD', amountMinor: 2_000n }]);
  const counted = (await countOpenCases(world.db)).find(({ kind }) => kind === 'share_without_owner');
  assert.deepEqual(counted?.oldest, world.clock.now(), 'what stands in suspense has an age');
  await applyResponse(world.context, charge, reversed(charge, { transactionId }));
  assert.deepEqual(await balanceAndDebt(), [0n, 0n], 'nobody who is gone owes');
  const found = (await listCases(world.db, 'open', 1_000, null)).find(
    ({ subjectId, kind }) => subjectId === charge.id && kind === 'share_without_owner',
  );
  assert.ok(found);
  await resolve(found, 'to_merchant');
  assert.equal(await merchantHas(), start);

  async function merchantHas(): Promise<bigint> {
    return (await world.balance('payable_available')) - (await world.balance('receivable_merchant'));
  }
});

function providerTransaction(charge: Charge, transactionId: string) {
  const { amountPaidMinor: amountMinor, currency, accountCanonical: payerNumber } = charge;
  return { transactionId, networkReference: transactionId, amountMinor, currency, networkFeeMinor: 0n, payerNumber };
}

async function resolve(
  found: Case,
  resolution: string,
  resolvers: readonly CaseResolver[] = createChargeResolvers(world.context),
  reported: ReportedMoney | null = null,
): Promise<void> {
  const resolver = resolvers.find((one) => one.kind === found.kind && one.resolution === resolution);
  assert.ok(resolver);
  const carryOut = await resolver.prepare(found, reported);
  await world.db.withTransaction((tx) => carryOut(tx, { found, operatorId: found.id } as never));
}

test('a partial reversal of a payout credits the sub-account and its statement', async () => {
  await pay();
  const payout = await world.acceptPayout(awa, 2_000n);
  await world.work();
  await world.report(payout, paidBack(payout));
  const bring = async (amountMinor: bigint) => {
    await world.report(payout, { state: 'reversed', providerTransaction: receiptOfPayout(payout, { amountMinor }) });
    const cases = await listCases(world.db, 'open', 1_000, null);
    const found = cases.find(({ subjectId, kind }) => subjectId === payout.id && kind === 'partial_reversal');
    assert.ok(found);
    const { transactionId } = receiptOfPayout(payout);
    await resolve(found, 'reversed', createTransferResolvers(world.context), { transactionId, amountMinor });
  };
  await bring(500n);
  assert.deepEqual(await balanceAndDebt(), [500n, 0n]);
  const request = { subAccountId: awa, from: null, to: null };
  const { lines } = await readSubAccountStatement(world.db, world.merchant, request, { after: null, rowsMax: 100 });
  assert.deepEqual([lines.at(-1)?.kind, lines.at(-1)?.changeMinor], ['payout_returned', 500n]);
  assert.equal((await world.transfer(payout)).status, 'completed');
});

test('partial reversals of a late payout reduce the sub-account’s debt in proportion', async () => {
  const payout = await owing();
  await world.report(payout, refused());
  const before = await world.balance('payable_available');
  await world.report(payout, paidBack(payout));
  assert.deepEqual(await balanceAndDebt(), [0n, 2_000n]);
  for (const [amountMinor, owed] of [
    [500n, 1_500n],
    [1_500n, 0n],
  ] as const) {
    await world.report(payout, { state: 'reversed', providerTransaction: receiptOfPayout(payout, { amountMinor }) });
    const cases = await listCases(world.db, 'open', 1_000, null);
    const about = cases.filter(({ subjectId, kind }) => subjectId === payout.id && kind === 'partial_reversal');
    const found = about.find((one) => one.amountMinor === amountMinor);
    assert.ok(found);
    const { transactionId } = receiptOfPayout(payout);
    await resolve(found, 'reversed', createTransferResolvers(world.context), { transactionId, amountMinor });
    assert.deepEqual(await balanceAndDebt(), [0n, owed]);
  }
  assert.equal(await world.balance('payable_available'), before);
});

// The world fails a transaction that locks accounts out of the one order (docs/adr/0013).

test('a late payout and its reversal in one report are booked together, whatever debts there are', async () => {
  const payout = await owing();
  await world.report(payout, refused());
  await pay();
  await owingAgain();
  const before = await balanceAndDebt();
  await world.report(payout, reversedPayout(payout));
  assert.deepEqual(await balanceAndDebt(), before);
  assert.deepEqual((await world.cases({ ...payout, id: payout.id } as never)).length, 2);

  async function owingAgain(): Promise<void> {
    const charge = await pay();
    await world.completePayout(awa, await world.balance(`sub:${awa}`));
    await world.refundReported(charge, paidBack);
  }
});

test('a refund paid with another amount and then reversed returns to each account its own part', async () => {
  const charge = await pay();
  await world.completePayout(awa, 1_500n);
  const refund = await world.refundSent(charge);
  await world.report(refund, paidBack(refund, { amountMinor: 9_000n }));
  const found = (await listCases(world.db, 'open', 1_000, null)).find(({ subjectId }) => subjectId === refund.id);
  assert.ok(found);
  await resolve(found, 'return', createTransferResolvers(world.context));
  assert.deepEqual(await balanceAndDebt(), [500n, 0n]);
});
