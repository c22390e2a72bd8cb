import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Account } from '../ledger/accounts.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { membersMax } from '../sub-accounts/group-members.ts';
import {
  reversedPayout,
  createRefundWorld,
  paidBack,
  refused,
  splitWith,
  type RefundWorld,
} from './refund-world.corpus.ts';

// The largest group that there can be, with every member in the state that needs the most movements.

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

afterEach(() => world.verify());

after(() => world.close());

const shareMinor = 400n;

/** A payment of 100.00 with a fee and a network's cut, shared with a group of twenty, each of which gets 4.00. */
async function createShared() {
  const owner = await world.setFee({ fixedMinor: 100n, payer: 'customer' });
  const { id: groupId, members } = await world.newGroup(...Array.from({ length: membersMax }, () => 4));
  const { charge } = await world.create({ network: 'aps', split: splitWith({ groupId }) }, owner);
  return { charge, members };
}

async function pay(charge: Charge): Promise<Charge> {
  const transactionId = `C-${charge.reference}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId, networkFeeMinor: 50n }));
  return world.charge(charge);
}

/** A paid one, of whose shares a part has been paid out. */
async function paidOutPartly() {
  const { charge, members } = await createShared();
  const paid = await pay(charge);
  for (const id of members) await world.post({ debit: `sub:${id}`, credit: 'float:rail-aps', amountMinor: 150n });
  return { charge: paid, members };
}

/** The balance of every member's account of this kind, which must be the same. */
async function each(members: readonly string[], kind: 'sub' | 'sub_owed'): Promise<bigint> {
  const balances = await Promise.all(members.map((id) => world.balance(`${kind}:${id}` satisfies Account)));
  assert.equal(new Set(balances).size, 1, `every ${kind} has the same`);
  return balances[0] ?? -1n;
}

test('a payment of twenty members who are all in debt is booked, and each repays', async () => {
  const { charge, members } = await createShared();
  for (const id of members) await world.post({ debit: `sub_owed:${id}`, credit: 'due_from_subs', amountMinor: 150n });
  assert.equal((await pay(charge)).status, 'completed');
  assert.deepEqual([await each(members, 'sub'), await each(members, 'sub_owed')], [shareMinor - 150n, 0n]);
  assert.equal((await world.movements(charge)).length, 63);
});

test('a payment of twenty members who all have only a part of their share left is reversed', async () => {
  const { charge, members } = await paidOutPartly();
  // Neither the fees nor the merchant's balance cover their part: that is the longest posting.
  const fees = await world.balance('fees');
  await world.post({ debit: 'fees', credit: 'bank', amountMinor: fees - 1n });
  await world.spendAllBut(1n);
  const transactionId = charge.networkTransactionId ?? '';
  await applyResponse(world.context, charge, reversed(charge, { transactionId }));
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.deepEqual([await each(members, 'sub'), await each(members, 'sub_owed')], [0n, 150n]);
  assert.equal((await world.movements(charge)).filter((line) => line.startsWith('reversed')).length, 43);
});

test('a refund of such a payment returns to all twenty members when it fails or is reversed', async () => {
  await world.post({ debit: 'test_funding', credit: 'payable_available', amountMinor: 100_000n });
  const { charge, members } = await paidOutPartly();
  const before = [await each(members, 'sub'), await each(members, 'sub_owed')];
  assert.deepEqual(before, [shareMinor - 150n, 0n]);
  const failing = await world.refundSent(charge);
  assert.deepEqual([await each(members, 'sub'), await each(members, 'sub_owed')], [0n, 150n]);
  await world.report(failing, refused());
  assert.deepEqual([await each(members, 'sub'), await each(members, 'sub_owed')], before);
  // It was paid out to the payer this time, because the network had refused.
  const returning = await world.refundReported(charge, paidBack);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.report(returning, reversedPayout(returning));
  assert.deepEqual([await each(members, 'sub'), await each(members, 'sub_owed')], before);
  assert.equal((await world.charge(charge)).status, 'completed');
});
