import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { createGroup } from '../sub-accounts/manage-groups.ts';
import {
  createSubAccount,
  updateSubAccount,
  getSubAccountForDeletion,
  markSubAccountDeleted,
} from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import type { SplitRequest } from '../sub-accounts/resolve-split.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import { chargeToWire } from './charge-wire.ts';
import { createPaymentWorld, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;
let caller: { merchantId: string; testMode: boolean };

before(async () => {
  world = await createPaymentWorld();
  caller = { merchantId: world.merchant.id, testMode: true };
});

after(async () => {
  await world.verify();
  await world.close();
});

async function subAccountOf(percent: bigint): Promise<string> {
  const percentHundredths = percent * 100n;
  const { id } = await world.db.withTransaction(async (tx) =>
    createSubAccount(tx, world.context, caller, { ...newSubAccount, percentHundredths }),
  );
  return id;
}

function splitWith(subAccountId: string): SplitRequest {
  return { subAccountId, groupId: null, paths: { subAccount: 'data.sub_account', group: 'data.sub_account_group' } };
}

async function pay(split: SplitRequest, amountMinor = 10_000n): Promise<Charge> {
  const { charge } = await world.create({ amountMinor, split });
  await applyResponse(world.context, charge, succeeded(charge));
  return world.charge(charge);
}

const balance = (
  account: 'payable_available' | 'receivable_merchant' | 'due_from_subs' | 'suspense' | `sub:${string}`,
) => world.balance(account);

test('a payment with a sub-account credits its share, and the merchant the rest', async () => {
  const awa = await subAccountOf(20n);
  const charge = await pay(splitWith(awa), 9_950n);
  assert.equal(await balance(`sub:${awa}`), 2_000n);
  assert.deepEqual(await world.movements(charge), [
    'collected float:rail-wave → payable_available 7950',
    `collected float:rail-wave → sub:${awa} 2000`,
  ]);
  const record = chargeToWire(
    world.context,
    world.merchant,
    await world.intent({ ...charge, id: charge.intentId }),
    charge,
  );
  assert.equal(record['merchant_receives'], 79.5);
  assert.deepEqual(record['shares'], [
    {
      sub_account: awa,
      percentage: 20,
      amount: 20,
      exact_amount: '19.90',
      explanation: '20% of D99.50 is D19.90, rounded up to D20.00.',
    },
  ]);
  await world.verify();
});

test('the split is fixed at creation: later changes of a sub-account leave an open payment as it is', async () => {
  const awa = await subAccountOf(20n);
  const { charge } = await world.create({ split: splitWith(awa) });
  await world.db.withTransaction((tx) =>
    updateSubAccount(tx, world.context, caller, {
      id: awa,
      change: { percentHundredths: 9_000n, active: false },
      prefix: '',
    }),
  );
  await applyResponse(world.context, charge, succeeded(charge));
  assert.equal(await balance(`sub:${awa}`), 2_000n);
  await assert.rejects(
    world.create({ split: splitWith(awa) }),
    (error) => error instanceof AppError && error.code === 'sub_account_paused',
  );
});

test('a group splits by its own percentages', async () => {
  const [awa, binta] = [await subAccountOf(50n), await subAccountOf(50n)];
  const { id: groupId } = await world.db.withTransaction((tx) =>
    createGroup(tx, world.context, caller, {
      name: 'Family',
      prefix: '',
      members: [
        { subAccountId: awa, percentHundredths: 3_000n },
        { subAccountId: binta, percentHundredths: 1_050n },
      ],
    }),
  );
  await pay({ ...splitWith(''), subAccountId: null, groupId });
  assert.deepEqual([await balance(`sub:${awa}`), await balance(`sub:${binta}`)], [3_000n, 1_100n]);
});

test('preview, intent and charge show the same split', async () => {
  const awa = await subAccountOf(33n);
  const split = splitWith(awa);
  const preview = await world.preview({ amountMinor: 12_345n, split });
  const { intent, charge } = await world.create({ amountMinor: 12_345n, split });
  const record = chargeToWire(world.context, world.merchant, intent, charge);
  assert.deepEqual([preview['shares'], preview['merchant_receives']], [record['shares'], record['merchant_receives']]);
});

test('a reversal is charged back to each recipient; the merchant advances what a sub-account lacks', async () => {
  const awa = await subAccountOf(20n);
  const charge = await pay(splitWith(awa));
  await world.post({ debit: `sub:${awa}`, credit: 'float:rail-wave', amountMinor: 1_500n });
  const before = await balance('payable_available');
  await applyResponse(world.context, charge, reversed(charge));
  assert.equal(await balance(`sub:${awa}`), 0n);
  assert.equal((await balance('payable_available')) - before, -9_500n);
  assert.equal(await world.balance(`sub_owed:${awa}`), 1_500n);
  assert.equal(await balance('due_from_subs'), 1_500n);
  await world.verify();
});

test('the next shares of a sub-account in debt repay the merchant first', async () => {
  const awa = await subAccountOf(10n);
  await world.post({ debit: `sub_owed:${awa}`, credit: 'due_from_subs', amountMinor: 1_500n });
  const [merchant, due] = [await balance('payable_available'), await balance('due_from_subs')];
  await pay(splitWith(awa));
  assert.deepEqual([await balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)], [0n, 500n]);
  assert.equal((await balance('payable_available')) - merchant, 10_000n);
  await pay(splitWith(awa));
  assert.deepEqual([await balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)], [500n, 0n]);
  assert.equal((await balance('due_from_subs')) - due, -1_500n);
  await world.verify();
});

test('two concurrent payments repay a debt once', async () => {
  const awa = await subAccountOf(50n);
  await world.post({ debit: `sub_owed:${awa}`, credit: 'due_from_subs', amountMinor: 6_000n });
  await Promise.all([pay(splitWith(awa)), pay(splitWith(awa))]);
  assert.deepEqual([await balance(`sub:${awa}`), await world.balance(`sub_owed:${awa}`)], [4_000n, 0n]);
  await world.verify();
});

test('a late payment’s share for a deleted sub-account goes to suspense, with a case', async () => {
  const awa = await subAccountOf(20n);
  const { intent, charge } = await world.create({ split: splitWith(awa) });
  await world.clock.jump(intent.expiresAt.getTime() - world.clock.now().getTime() + 1);
  await world.db.withTransaction(async (tx) => {
    const subAccount = await getSubAccountForDeletion(tx, caller.merchantId, awa);
    tx.send(markSubAccountDeleted(subAccount, world.clock.now()));
  });
  const before = await balance('suspense');
  await applyResponse(world.context, charge, succeeded(charge));
  assert.equal((await balance('suspense')) - before, 2_000n);
  assert.equal(await balance(`sub:${awa}`), 0n);
  assert.deepEqual(await world.cases(charge), ['share_without_owner']);
  await world.verify();
});
