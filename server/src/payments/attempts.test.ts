import assert from 'node:assert/strict';
import { afterEach, before, after, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from './apply-response.ts';
import { cancelPayment } from './cancel-payment.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

const amountMinor = 10_000n;

function cancel(intent: Intent): Promise<Intent> {
  return world.db.withTransaction((tx) => cancelPayment(tx, world.context, world.merchant, intent.id));
}

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'state_conflict' && error.statusCode === 409;
}

async function statuses(intent: Intent): Promise<string[]> {
  const charges = await world.charges(intent);
  return [(await world.intent(intent)).status, ...charges.map(({ status }) => status)];
}

test('after a refused attempt the payer may try again, also on another network', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, charge, refused);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'failed']);
  const second = await world.attempt(intent, 'aps');
  assert.deepEqual(await statuses(intent), ['processing', 'failed', 'pending']);
  await world.work();
  await applyResponse(world.context, second, succeeded(second));
  assert.deepEqual(await statuses(intent), ['successful', 'failed', 'completed']);
  assert.equal((await world.intent(intent)).late, false);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.failed']);
  assert.deepEqual(await world.events(second), ['charge.created', 'charge.succeeded']);
  assert.deepEqual(await world.movements(second), ['collected float:rail-aps → payable_available 10000']);
});

test('a second attempt is refused while one is open', async () => {
  const { intent } = await world.createSent();
  await assert.rejects(world.attempt(intent, 'aps'), isConflict);
});

test('a repeated refusal appears once in the timeline, and a second attempt’s refusal too', async () => {
  const { charge } = await world.createSent();
  for (let time = 0; time < 3; time += 1) await applyResponse(world.context, charge, refused);
  assert.deepEqual(await world.notes(charge), ['sent_to_network']);
  const other = { code: 'insufficient_funds', reason: 'The wallet holds too little.' } as const;
  await applyResponse(world.context, charge, { state: 'refused', failure: other });
  assert.deepEqual(await world.notes(charge), ['sent_to_network', 'refusal_ignored']);
});

test('the fifth refusal fails the payment', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, refused);
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    assert.equal((await world.intent(intent)).status, 'requires_payment_method');
    const next = await world.attempt(intent, 'wave');
    await world.work();
    await applyResponse(world.context, next, refused);
  }
  assert.deepEqual(await statuses(intent), ['failed', 'failed', 'failed', 'failed', 'failed', 'failed']);
  await assert.rejects(world.attempt(intent, 'wave'), isConflict);
  await assert.rejects(cancel(intent), isConflict);
});

test('money received after the payment has failed is booked and marked late', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, refused);
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    const next = await world.attempt(intent, 'wave');
    await applyResponse(world.context, next, refused);
  }
  const before = await world.balance('payable_available');
  await applyResponse(world.context, charge, succeeded(charge));
  const paid = await world.intent(intent);
  assert.deepEqual([paid.status, paid.late], ['successful', true]);
  const completed = await world.charge(charge);
  assert.deepEqual([completed.status, completed.late, completed.failureCode], ['completed', true, null]);
  assert.equal((await world.balance('payable_available')) - before, amountMinor);
});

test('a late success of the first attempt pays the intent, and the second is cancelled at its network', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, charge, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'pending']);
  const { late } = await world.intent(intent);
  assert.equal(late, false, 'the payer was in time');
  await world.work();
  assert.deepEqual(
    world.networks.aps.calls.filter(({ reference }) => reference === second.reference).map(({ call }) => call),
    ['start', 'cancel'],
  );
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'cancelled']);
  assert.deepEqual(await world.events(second), ['charge.created'], 'nobody refused it');
});

test('a second attempt paid before its cancellation goes to suspense, with a case', async () => {
  const { aps } = world.networks;
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, charge, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  await applyResponse(world.context, charge, succeeded(charge));
  const cancelResponse = aps.responses.cancel;
  aps.responses.cancel = succeeded(second);
  await world.work();
  aps.responses.cancel = cancelResponse;
  assert.deepEqual(await world.movements(second), ['suspense float:rail-aps → suspense 10000']);
  assert.deepEqual(await world.cases(second), ['second_success']);
  const waiting = await world.charge(second);
  assert.deepEqual([waiting.status, waiting.review], ['pending', 'second_success']);
  assert.equal((await world.intent(intent)).status, 'successful');
});

test('a late success of the first attempt after the second has paid is in suspense once, with a case', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, charge, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  await applyResponse(world.context, second, succeeded(second));
  const merchantHas = await world.balance('payable_available');
  for (let time = 0; time < 3; time += 1) await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await statuses(intent), ['successful', 'failed', 'completed']);
  assert.deepEqual(await world.movements(charge), ['suspense float:rail-wave → suspense 10000']);
  assert.deepEqual(await world.cases(charge), ['second_success']);
  assert.equal((await world.charge(charge)).review, 'second_success');
  assert.equal(await world.balance('payable_available'), merchantHas);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.failed']);
});

test('a cancelled payment is cancelled at the network, whose later response is no failure', async () => {
  const { intent, charge } = await world.createSent();
  await cancel(intent);
  assert.equal((await world.intent(intent)).status, 'cancelled');
  await world.work();
  assert.deepEqual(await statuses(intent), ['cancelled', 'cancelled']);
  assert.deepEqual(await world.events(intent), ['payment_intent.created', 'payment_intent.cancelled']);
  assert.deepEqual(await world.events(charge), ['charge.created']);
  await assert.rejects(cancel(intent), isConflict);
});

test('a payment that was paid before it could be cancelled is booked, successful and late', async () => {
  const { wave } = world.networks;
  const { intent, charge } = await world.createSent();
  await cancel(intent);
  const cancelResponse = wave.responses.cancel;
  wave.responses.cancel = succeeded(charge);
  await world.work();
  wave.responses.cancel = cancelResponse;
  const paid = await world.intent(intent);
  assert.deepEqual([paid.status, paid.late], ['successful', true]);
  assert.deepEqual(await world.movements(charge), ['collected float:rail-wave → payable_available 10000']);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
});

test('of two attempts started concurrently one is accepted', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, refused);
  const outcomes = await Promise.allSettled([world.attempt(intent, 'aps'), world.attempt(intent, 'wave')]);
  const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(refusals.length, 1);
  assert.ok(refusals.every(({ reason }) => isConflict(reason)));
  assert.equal((await world.charges(intent)).length, 2);
});
