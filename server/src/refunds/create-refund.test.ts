import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { createNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { refused as paymentRefused, succeeded } from '../payments/payment-world.corpus.ts';
import { chooseRoute } from './choose-route.ts';
import { createRefund } from './create-refund.ts';
import { merchantPartMinor } from './refund.ts';
import { createRefundWorld, paidBack, partsOf, refused, splitWith, type RefundWorld } from './refund-world.corpus.ts';

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

after(async () => {
  await world.verify();
  await world.close();
});

function refusedWith(code: string, path?: string, message?: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof AppError, String(error));
    assert.deepEqual([error.code, error.fields?.[0]?.path], [code, path], error.message);
    if (message) assert.match(error.message, message);
    return true;
  };
}

test('a full refund charges each recipient, and the charge is refunded once the network has paid', async () => {
  const awa = await world.newSubAccount(20);
  const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
  const before = await world.balances('payable_available', 'held');
  const refund = await world.refund(charge);
  assert.deepEqual(partsOf(refund), ['sub: 2000 0']);
  assert.equal(merchantPartMinor(refund), 8_000n);
  assert.deepEqual(await world.balances('payable_available', 'held', `sub:${awa}`), {
    payable_available: before.payable_available - 8_000n,
    held: before.held + 10_000n,
    [`sub:${awa}`]: 0n,
  });
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
  await world.work();
  await world.report(refund, paidBack(refund));
  const refunded = await world.charge(charge);
  assert.deepEqual([refunded.status, refunded.amountRefundedMinor], ['refunded', 10_000n]);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded', 'charge.refunded']);
  assert.deepEqual(await world.notes(charge), ['refund_requested', 'refund_completed']);
  assert.deepEqual(await world.movements({ ...charge, id: refund.id }), [
    `held sub:${awa} → held 2000`,
    'held payable_available → held 8000',
    'transfer held → float:rail-aps 10000',
  ]);
  assert.equal((await world.found(refund)).transferStatus, 'completed');
});

test('parts are refunded until nothing is left, and the last one is exact', async () => {
  const { id, members } = await world.newGroup(33, 33, 34);
  const charge = await world.collect({ amountMinor: 10_000n, split: splitWith({ groupId: id }) });
  const merchantBefore = await world.balance('payable_available');
  for (const amountMinor of [1n, 1n, 3_333n, 6_664n]) {
    await world.refundReported(charge, paidBack, amountMinor);
    assert.equal((await world.charge(charge)).status, 'completed');
    await world.verify();
  }
  const last = await world.refundReported(charge, paidBack);
  assert.equal(last.amountMinor, 1n);
  for (const member of members) assert.equal(await world.balance(`sub:${member}`), 0n);
  assert.equal(
    await world.balance('payable_available'),
    merchantBefore,
    'the merchant had nothing of it and gave nothing',
  );
  assert.equal((await world.charge(charge)).status, 'refunded');
  await assert.rejects(world.refund(charge), refusedWith('refund_not_possible', 'reference', /Nothing is left/));
});

test('shares that offset rounding return the merchant’s bututs, and charge them again if it fails', async () => {
  const { id, members } = await world.newGroup(50, 50);
  const charge = await world.collect({ amountMinor: 200n, split: splitWith({ groupId: id }) });
  const subs = members.map((member) => `sub:${member}` as const);
  const before = await world.balances('payable_available', ...subs);
  await world.refundReported(charge, paidBack, 1n);
  assert.equal(await world.balance('payable_available'), before.payable_available - 1n);
  const second = await world.refundSent(charge, 1n);
  assert.equal(merchantPartMinor(second), -1n);
  assert.deepEqual(await world.balances('payable_available', ...subs), {
    payable_available: before.payable_available,
    [subs[0] ?? '']: 99n,
    [subs[1] ?? '']: 99n,
  });
  await world.report(second, refused());
  assert.deepEqual(await world.balances('payable_available', ...subs), {
    payable_available: before.payable_available - 1n,
    [subs[0] ?? '']: 100n,
    [subs[1] ?? '']: 100n,
  });
  await world.refundReported(charge, paidBack);
  assert.deepEqual(await world.balances('payable_available', ...subs), {
    payable_available: before.payable_available,
    [subs[0] ?? '']: 0n,
    [subs[1] ?? '']: 0n,
  });
});

test('a fee that the customer paid is refunded in proportion; one that the business paid is not', async () => {
  const owner = await world.setFee({ fixedMinor: 300n, payer: 'customer' });
  const { charge: customers } = await world.create({ network: 'aps' }, owner);
  await applyResponse(world.context, customers, succeeded(customers));
  assert.equal(customers.amountPaidMinor, 10_300n);
  const fees = await world.balance('fees');
  const half = await world.refundReported(await world.charge(customers), paidBack, 5_150n);
  assert.deepEqual(partsOf(half), ['fees 150 0']);
  assert.equal(await world.balance('fees'), fees - 150n);
  await world.refundReported(await world.charge(customers), paidBack);
  assert.equal(await world.balance('fees'), fees - 300n);
  const business = await world.setFee({ fixedMinor: 300n, payer: 'business' });
  const { charge: own } = await world.create({ network: 'aps' }, business);
  await applyResponse(world.context, own, succeeded(own));
  const before = await world.balance('payable_available');
  assert.deepEqual(partsOf(await world.refundReported(await world.charge(own), paidBack)), []);
  assert.equal(await world.balance('payable_available'), before - 10_000n);
});

test('the merchant advances the part of a paid-out sub-account, and its next shares repay it first', async () => {
  const awa = await world.newSubAccount(20);
  const split = splitWith({ subAccountId: awa });
  const charge = await world.collect({ split });
  await world.completePayout(awa, 2_000n);
  const before = await world.balance('payable_available');
  const refund = await world.refundReported(charge, paidBack);
  assert.deepEqual(partsOf(refund), ['sub: 2000 2000']);
  assert.deepEqual(await world.balances('payable_available', 'due_from_subs', `sub_owed:${awa}`, `sub:${awa}`), {
    payable_available: before - 10_000n,
    due_from_subs: 2_000n,
    [`sub_owed:${awa}`]: 2_000n,
    [`sub:${awa}`]: 0n,
  });
  await world.collect({ amountMinor: 7_500n, split });
  assert.deepEqual(await world.balances('payable_available', `sub_owed:${awa}`, `sub:${awa}`), {
    payable_available: before - 10_000n + 7_500n,
    [`sub_owed:${awa}`]: 500n,
    [`sub:${awa}`]: 0n,
  });
  await world.collect({ split });
  assert.deepEqual(await world.balances('due_from_subs', `sub_owed:${awa}`, `sub:${awa}`), {
    due_from_subs: 0n,
    [`sub_owed:${awa}`]: 0n,
    [`sub:${awa}`]: 1_500n,
  });
});

test('a share that was paid out cannot be refunded at the operator’s cost', async () => {
  const thief = await world.newSubAccount(100);
  const charge = await world.collect({ amountMinor: 50_000n, split: splitWith({ subAccountId: thief }) });
  await world.completePayout(thief, 50_000n);
  await world.spendAllBut(49_999n);
  await assert.rejects(world.refund(charge), refusedWith('insufficient_balance', undefined, /D0\.01 is missing/));
  assert.deepEqual(await world.balances('payable_available', 'due_from_subs', `sub_owed:${thief}`), {
    payable_available: 49_999n,
    due_from_subs: 0n,
    [`sub_owed:${thief}`]: 0n,
  });
  await world.refundReported(charge, paidBack, 49_999n);
  assert.equal(await world.balance('payable_available'), 0n);
  await world.collect({ amountMinor: 100_000_000n });
  await world.verify();
});

test('only what was paid can be refunded, at most what is left, and pending refunds count', async () => {
  const { charge: pending } = await world.create({ network: 'aps' });
  await assert.rejects(world.refund(pending), refusedWith('refund_not_possible', 'reference', /not been paid/));
  await world.work();
  await applyResponse(world.context, pending, paymentRefused);
  await assert.rejects(world.refund(pending), refusedWith('refund_not_possible', 'reference', /is failed/));
  const charge = await world.collect();
  await assert.rejects(world.refund(charge, 10_001n), refusedWith('refund_not_possible', 'amount', /Only D100\.00/));
  await assert.rejects(world.refund(charge, 0n), refusedWith('invalid_request', 'amount'));
  const first = await world.refundSent(charge, 6_000n);
  await assert.rejects(world.refund(charge, 4_001n), refusedWith('refund_not_possible', 'amount', /Only D40\.00/));
  const rest = await world.refundSent(charge);
  await assert.rejects(world.refund(charge), refusedWith('refund_not_possible', 'reference', /are pending/));
  await world.report(first, refused());
  await world.report(rest, paidBack(rest));
  const again = await world.refundReported(charge, paidBack);
  assert.equal(again.amountMinor, 6_000n);
  assert.equal((await world.charge(charge)).status, 'refunded');
});

test('a charge is found by either reference or its id, never another merchant’s', async () => {
  const charge = await world.collect();
  const query = (reference: string, owner = world.merchant) =>
    world.db.withTransaction((tx) => createRefund(tx, world.context, owner, { reference, amountMinor: 100n }));
  for (const reference of [charge.reference, charge.transactionReference, charge.id]) {
    assert.equal((await query(reference)).chargeId, charge.id);
  }
  const other = await world.newMerchant();
  for (const reference of [charge.reference, charge.transactionReference, charge.id, 'TX-1']) {
    await assert.rejects(query(reference, other), refusedWith('invalid_request', 'reference'));
  }
});

test('of concurrent refunds of the remainder one is accepted', async () => {
  const charge = await world.collect();
  await world.openConnections();
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => world.refund(charge)));
  const made = results.filter(({ status }) => status === 'fulfilled');
  assert.equal(made.length, 1);
  for (const result of results) {
    if (result.status === 'rejected') refusedWith('refund_not_possible', 'reference')(result.reason);
  }
});

test('a concurrent refund and payout of a share move its money once, and the rest is advanced', async () => {
  for (let round = 0; round < 5; round += 1) {
    const awa = await world.newSubAccount(20);
    const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
    await world.openConnections();
    const [payout, refund] = await Promise.allSettled([world.acceptPayout(awa, 2_000n), world.refund(charge)]);
    assert.equal(refund.status, 'fulfilled');
    const isPaidOut = payout.status === 'fulfilled';
    assert.equal(await world.balance(`sub_owed:${awa}`), isPaidOut ? 2_000n : 0n);
    assert.equal(await world.balance(`sub:${awa}`), 0n);
    await world.verify();
  }
});

test('a refund goes by the network where it can, else as a payout to the payer, else is refused', async () => {
  const routeOf = async (network: string, amountMinor: bigint | null, changes = {}) => {
    const charge = await world.collect({ network, ...changes });
    const refund = await world.refund(charge, amountMinor);
    return refund.route;
  };
  assert.equal(await routeOf('wave', null), 'network');
  assert.equal(await routeOf('wave', 100n), 'payout');
  assert.equal(await routeOf('aps', 100n), 'network');
  assert.equal(await routeOf('afrimoney', null), 'payout');
  const charge = await world.collect({ network: 'aps' });
  await world.clock.jump(48 * 60 * 60 * 1_000 + 1);
  assert.equal((await world.refund(charge)).route, 'payout');
  const unknown = await world.collect({ network: 'wave' });
  await world.asOwner('UPDATE charges SET account_number = NULL, account_canonical = NULL WHERE id = $1', [unknown.id]);
  await assert.rejects(
    world.refund(unknown, 100n),
    refusedWith('refund_not_possible', undefined, /number is not known/),
  );
  assert.equal((await world.refund(unknown)).route, 'network');
  await world.work();
});

test('a refund whose payout waits for a paused network says so, and no idempotency key remembers that', async () => {
  const charge = await world.collect({ network: 'afrimoney' });
  const networks = createNetworkRegistry([new ScriptedNetwork('aps')]);
  networks.replace([{ connector: new ScriptedNetwork('afrimoney'), rank: 1, isDisabled: true }]);
  const refund = { charge, amountMinor: charge.amountPaidMinor, wasRefused: false };
  assert.throws(
    () => chooseRoute({ networks, clock: world.clock }, world.merchant, refund),
    (error) =>
      refusedWith('refund_not_possible', undefined, /has paused payouts to Afrimoney/)(error) &&
      error instanceof AppError &&
      !error.isStored,
  );
});

test('a network refund names the provider transaction; after a refusal the next is a payout', async () => {
  const charge = await world.collect({ network: 'wave' });
  world.refundRequests.length = 0;
  const refund = await world.refundReported(charge, refused);
  assert.deepEqual(
    world.refundRequests.map(({ reference, originalTransactionId, amountMinor }) => [
      reference,
      originalTransactionId,
      amountMinor,
    ]),
    [[refund.reference, charge.networkTransactionId, 10_000n]],
  );
  const next = await world.refundReported(charge, paidBack);
  assert.deepEqual([next.route, next.transferStatus], ['payout', 'completed']);
});
