import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { lockBalances } from '../ledger/post.ts';
import { claimProviderTransaction } from '../networks/provider-transactions.ts';
import type { ProviderTransaction } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import { receivedMinor } from './charge.ts';
import { createCheckout } from './checkout.ts';
import { createPaymentWorld, transactionOf, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

const collected = 'collected float:rail-wave → payable_available 10000';

test('a success reported ten times in a row is booked once', async () => {
  const { charge } = await world.createSent();
  for (let time = 0; time < 10; time += 1) await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await world.movements(charge), [collected]);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
  assert.deepEqual(await world.cases(charge), []);
});

test('a success reported ten times concurrently is booked once', async () => {
  const { charge } = await world.createSent();
  const notification = Array.from({ length: 10 }, () => applyResponse(world.context, charge, succeeded(charge)));
  await Promise.all(notification);
  assert.deepEqual(await world.movements(charge), [collected]);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
});

test('a provider transaction that paid one payment pays no other, of any merchant', async () => {
  const first = await world.createSent();
  const other = await world.newMerchant();
  const second = await world.createSent();
  const third = await world.create({}, other);
  const transactionId = 'T-used-by-the-first';
  await applyResponse(world.context, first.charge, succeeded(first.charge, { transactionId }));
  for (const { charge, intent } of [second, third]) {
    for (let time = 0; time < 3; time += 1) {
      await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
    }
    assert.deepEqual(await world.movements(charge), []);
    assert.deepEqual(await world.cases(charge), ['receipt_reused']);
    const waiting = await world.charge(charge);
    assert.deepEqual([waiting.status, waiting.review], ['pending', 'receipt_reused']);
    assert.equal((await world.intent(intent)).status, 'processing');
  }
  assert.deepEqual(await world.movements(first.charge), [collected]);
});

test('of many payments that claim one provider transaction concurrently one gets it', async () => {
  const payments = [];
  for (let index = 0; index < 8; index += 1) payments.push(await world.createSent());
  const transactionId = 'T-wanted-by-all';
  await Promise.all(
    payments.map(({ charge }) => applyResponse(world.context, charge, succeeded(charge, { transactionId }))),
  );
  const charges = await Promise.all(payments.map(({ charge }) => world.charge(charge)));
  assert.equal(charges.filter(({ status }) => status === 'completed').length, 1);
  assert.equal(charges.filter(({ review }) => review === 'receipt_reused').length, 7);
});

test('the same transaction id at another network is other money', async () => {
  const [one, other] = [await world.createSent({ network: 'wave' }), await world.createSent({ network: 'aps' })];
  const transactionId = 'T-1';
  for (const { charge } of [one, other]) {
    await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
    assert.equal((await world.charge(charge)).status, 'completed');
  }
});

test('a worker that died between claim and booking is recovered by the next notification', async () => {
  const { charge } = await world.createSent();
  const { db, clock } = world.context;
  const { transactionId } = transactionOf(charge);
  const owner = { merchantId: charge.merchantId, subjectId: charge.id };
  assert.ok(
    await claimProviderTransaction(db, clock, {
      railAccount: 'rail-wave',
      transactionId,
      kind: 'collection',
      ...owner,
    }),
  );
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await world.movements(charge), [collected]);
});

for (const [name, changes] of [
  ['a butut more', { amountMinor: 10_001n }],
  ['a butut less', { amountMinor: 9_999n }],
  ['another currency', { currency: 'XOF' }],
] satisfies [string, Partial<ProviderTransaction>][]) {
  test(`money that is ${name} than requested goes to suspense, and the payment is under review`, async () => {
    const { intent, charge } = await world.createSent();
    const transactionId = `T-${name}`;
    for (let time = 0; time < 3; time += 1) {
      await applyResponse(world.context, charge, succeeded(charge, { transactionId, ...changes }));
    }
    const waiting = await world.charge(charge);
    assert.deepEqual([waiting.status, waiting.review], ['pending', 'amount_mismatch']);
    assert.equal(waiting.networkTransactionId, transactionId);
    const { amountMinor } = transactionOf(charge, changes);
    const arrivedMinor = changes.currency === undefined ? amountMinor : null;
    const view = await createCheckout(world.context).find(intent.checkoutToken);
    assert.deepEqual([waiting.amountReceivedMinor, view?.charge?.arrivedMinor], [arrivedMinor, arrivedMinor]);
    assert.deepEqual(await world.movements(charge), [`suspense float:rail-wave → suspense ${amountMinor}`]);
    assert.deepEqual(await world.cases(charge), ['amount_mismatch']);
    assert.deepEqual(await world.events(charge), ['charge.created']);
    assert.deepEqual(await world.notes(charge), ['sent_to_network', 'held_for_review']);
    const held = await world.intent(intent);
    assert.deepEqual([held.status, held.review], ['processing', 'amount_mismatch']);
    await applyResponse(world.context, charge, refused);
    assert.equal((await world.charge(charge)).status, 'pending', 'a refusal does not undo that money came');
  });
}

test('the right amount after a wrong one is booked; the wrong one stays in suspense', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'T-part', amountMinor: 4_000n }));
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'T-whole' }));
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'T-part', amountMinor: 4_000n }));
  assert.deepEqual(await world.movements(charge), ['suspense float:rail-wave → suspense 4000', collected]);
  const paid = await world.intent(intent);
  assert.deepEqual([paid.status, paid.review], ['successful', null]);
  assert.equal(receivedMinor(await world.charge(charge)), 10_000n);
});

test('booking a collection does not wait for a lock on the merchant’s balance', async () => {
  const { charge } = await world.createSent();
  const locked = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const at = { merchantId: charge.merchantId, currency: 'GMD' };
  const holder = world.db.withTransaction(async (tx) => {
    await lockBalances(tx, at, ['payable_available', 'fees', 'float:rail-wave']);
    locked.resolve();
    await mayEnd.promise;
  });
  await locked.promise;
  await applyResponse(world.context, charge, succeeded(charge));
  mayEnd.resolve();
  await holder;
  assert.equal((await world.charge(charge)).status, 'completed');
});

test('the payer’s number of a link without one is stored when the network reports it', async () => {
  const { charge } = await world.create({ network: 'wave', accountNumber: '7001234' });
  await world.asOwner('UPDATE charges SET account_number = NULL, account_canonical = NULL WHERE id = $1', [charge.id]);
  const unknown = await world.charge(charge);
  await applyResponse(world.context, unknown, succeeded(unknown, { payerNumber: '+2207012345' }));
  const { accountNumber, accountCanonical } = await world.charge(charge);
  assert.deepEqual([accountNumber, accountCanonical], ['+2207012345', '+220877012345']);
});
