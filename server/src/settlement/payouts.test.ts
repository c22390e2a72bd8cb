import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from '../transfers/apply-response.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { noResponse, paid, refused } from '../transfers/transfer-world.corpus.ts';
import { deleteSubAccount } from './delete-sub-account.ts';
import { createSettlementWorld, type SettlementWorld } from './settlement-world.corpus.ts';

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});
afterEach(() => world.verify());
after(() => world.close());

/** The code and message of the refusal. */
async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => assert.fail('it was accepted'),
    (refusal: unknown) => refusal,
  );
  assert.ok(error instanceof AppError, String(error));
  return `${error.code}: ${error.message}`;
}

/** A payout that was sent, with this response of its network. */
async function orderResponse(subAccount: { id: string }, response: PayoutResponse): Promise<Transfer> {
  const { payoutResponses } = world.networks.wave;
  const usual = payoutResponses.pay_out;
  payoutResponses.pay_out = response;
  const payout = await world.orderPayout(subAccount);
  await world.workFor(60_000);
  payoutResponses.pay_out = usual;
  return payout;
}

describe('a payout of a sub-account', () => {
  test('pays the whole settled balance by default, to the sub-account’s network and number', async () => {
    const subAccount = await world.subAccount(12_345n, { accountNumber: '7005678', settlementCode: 'qmoney' });
    await world.credit(subAccount, 5_000n, ':pending');
    const payout = await world.orderPayout(subAccount);
    const { kind, status, amountMinor, feeMinor, network, accountNumber, subAccountId } = payout;
    assert.deepEqual(
      { kind, status, amountMinor, feeMinor, network, accountNumber, subAccountId },
      {
        kind: 'sub_account_payout',
        status: 'pending',
        amountMinor: 12_345n,
        feeMinor: 0n,
        network: 'qmoney',
        accountNumber: '7005678',
        subAccountId: subAccount.id,
      },
    );
    assert.equal(await world.settled(subAccount), 0n, 'its money is held');
    await world.work();
    assert.equal((await world.transfer(payout)).status, 'completed');
    assert.deepEqual(await world.movements(payout), [
      `held sub:${subAccount.id} → held 12345`,
      'transfer held → float:rail-qmoney 12345',
    ]);
    assert.deepEqual(await world.events(payout), ['sub_account.payout.succeeded']);
  });

  test('needs a settled balance of 10 GMD, whatever is pending', async () => {
    const subAccount = await world.subAccount(999n);
    await world.credit(subAccount, 50_000n, ':pending');
    assert.match(
      await refusalOf(world.orderPayout(subAccount)),
      /^balance_below_minimum: The settled balance is D9\.99, .* or until pending ones are settled/,
    );
    await world.credit(subAccount, 1n);
    assert.equal((await world.orderPayout(subAccount, 100n)).amountMinor, 100n, 'then one dalasi can be paid out');
    assert.match(await refusalOf(world.orderPayout(subAccount, 100n)), /^balance_below_minimum/);
  });

  test('is from 1 GMD to the settled balance', async () => {
    const subAccount = await world.subAccount(2_000n);
    assert.match(await refusalOf(world.orderPayout(subAccount, 99n)), /^amount_out_of_bounds/);
    assert.match(await refusalOf(world.orderPayout(subAccount, 0n)), /^amount_out_of_bounds/);
    assert.match(await refusalOf(world.orderPayout(subAccount, 2_001n)), /^insufficient_balance: .*D20\.00/);
    assert.equal((await world.orderPayout(subAccount, 2_000n)).amountMinor, 2_000n);
  });

  test('is refused for an unknown, foreign or deleted sub-account', async () => {
    const stranger = await world.newMerchant();
    const foreign = await world.subAccount(5_000n, {}, stranger);
    assert.match(await refusalOf(world.orderPayout(foreign)), /^not_found/);
    assert.match(await refusalOf(world.orderPayout({ id: world.context.newId() })), /^not_found/);
  });

  test('that the network refuses returns the money, and emits payout.failed', async () => {
    const subAccount = await world.subAccount(3_000n);
    const payout = await orderResponse(subAccount, refused);
    assert.equal((await world.transfer(payout)).status, 'failed');
    assert.equal(await world.settled(subAccount), 3_000n);
    assert.deepEqual(await world.events(payout), ['sub_account.payout.failed']);
  });

  test('with an unknown outcome keeps its money held until a look-up finds it', async () => {
    const subAccount = await world.subAccount(3_000n);
    const payout = await orderResponse(subAccount, noResponse);
    assert.equal((await world.transfer(payout)).status, 'pending');
    assert.equal(await world.settled(subAccount), 0n);
    assert.match(await refusalOf(world.orderPayout(subAccount)), /^balance_below_minimum/);
    const { payoutResponses } = world.networks.wave;
    payoutResponses.look_up_payout = paid(payout);
    await world.workFor(60_000);
    payoutResponses.look_up_payout = noResponse;
    assert.equal((await world.transfer(payout)).status, 'completed');
  });

  test('paid after its failure and then reversed leaves every balance as before', async () => {
    const subAccount = await world.subAccount(3_000n);
    const payout = await orderResponse(subAccount, refused);
    const before = await world.balance('payable_available');
    const late = paid(payout);
    assert.ok(late.state === 'succeeded');
    await applyResponse(world.context, await world.transfer(payout), late);
    assert.equal(await world.settled(subAccount), 0n, 'it went to where the sub-account wanted it');
    assert.match(await world.summaryOf(payout), /It was taken from the sub-account's balance/);
    await applyResponse(world.context, await world.transfer(payout), { ...late, state: 'reversed' });
    assert.equal(await world.settled(subAccount), 3_000n);
    assert.equal(await world.balance('payable_available'), before);
  });

  test('paid late and reversed after the sub-account’s deletion goes to suspense, with a case', async () => {
    const subAccount = await world.subAccount(3_000n);
    const payout = await orderResponse(subAccount, refused);
    const late = paid(payout);
    assert.ok(late.state === 'succeeded');
    await applyResponse(world.context, await world.transfer(payout), late);
    await world.db.withTransaction((tx) => deleteSubAccount(tx, world.context.clock, world.merchant, subAccount.id));
    const before = await world.balance('suspense');
    await applyResponse(world.context, await world.transfer(payout), { ...late, state: 'reversed' });
    assert.equal((await world.balance('suspense')) - before, 3_000n);
    assert.deepEqual(await world.cases(payout), ['late_success', 'network_reversal', 'share_without_owner']);
  });

  test('of one balance succeeds once among concurrent requests', async () => {
    for (let round = 0; round < 10; round += 1) {
      const subAccount = await world.subAccount(2_500n);
      const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => world.orderPayout(subAccount)));
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') assert.equal((outcome.reason as AppError).code, 'balance_below_minimum');
      }
    }
  });
});

describe('the fee of a payout', () => {
  let costly: SettlementWorld;
  before(async () => {
    costly = await createSettlementWorld({ feeMinor: 250n });
  });
  afterEach(() => costly.verify());
  after(() => costly.close());

  test('is paid by the merchant, and returned with the money of a failed payout', async () => {
    const subAccount = await costly.subAccount(4_000n);
    const before = await costly.balance('payable_available');
    const payout = await costly.orderPayout(subAccount);
    assert.equal(payout.amountMinor, 4_000n, 'it arrives in full');
    assert.equal(await costly.balance('payable_available'), before - 250n);
    costly.networks.wave.payoutResponses.pay_out = refused;
    await costly.work();
    assert.equal((await costly.transfer(payout)).status, 'failed');
    assert.equal(await costly.settled(subAccount), 4_000n);
    assert.equal(await costly.balance('payable_available'), before);
  });

  test('above the merchant’s balance is refused with both amounts, and nothing is held', async () => {
    const subAccount = await costly.subAccount(4_000n);
    await emptyPayoutBalance(costly);
    const refusal = await refusalOf(costly.orderPayout(subAccount));
    assert.match(refusal, /^insufficient_balance: You pay the fee of D2\.50, and your payout balance is D0\.00/);
    assert.equal(await costly.settled(subAccount), 4_000n);
  });
});

async function emptyPayoutBalance(costly: SettlementWorld): Promise<void> {
  const amountMinor = await costly.balance('payable_available');
  await costly.db.withTransaction((tx) =>
    costly.postIn(tx, costly.merchant, [{ debit: 'payable_available', credit: 'float:rail-wave', amountMinor }]),
  );
}
