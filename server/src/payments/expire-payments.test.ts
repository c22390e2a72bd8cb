import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from './apply-response.ts';
import { cancelPayment } from './cancel-payment.ts';
import { expirePayments } from './expire-payments.ts';
import { statusAt } from './intent.ts';
import { createPaymentWorld, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

afterEach(() => world.verify());

after(() => world.close());

const lifetimeMs = 30 * 60_000;

test('a payment whose time has passed is expired and refuses attempts and cancellations', async () => {
  const { intent, charge } = await world.createSent();
  await applyResponse(world.context, charge, refused);
  await world.clock.advance(lifetimeMs - 1);
  assert.equal(statusAt(await world.intent(intent), world.clock.now()), 'requires_payment_method');
  await world.clock.advance(1);
  assert.equal(statusAt(await world.intent(intent), world.clock.now()), 'expired');
  const isConflict = (error: unknown): boolean => error instanceof AppError && error.code === 'state_conflict';
  await assert.rejects(world.attempt(intent, 'wave'), isConflict);
  await assert.rejects(
    world.db.withTransaction((tx) => cancelPayment(tx, world.context, world.merchant, intent.id)),
    isConflict,
  );
  assert.deepEqual(await world.events(intent), ['payment_intent.created'], 'no job has run');
});

test('concurrent sweeps store an expiry once, with one event', async () => {
  await world.openConnections();
  const { intent } = await world.createSent();
  await world.clock.advance(lifetimeMs);
  await Promise.all([expirePayments(world.context), expirePayments(world.context), expirePayments(world.context)]);
  assert.equal((await world.intent(intent)).status, 'expired');
  assert.deepEqual(await world.events(intent), ['payment_intent.created', 'payment_intent.expired']);
  assert.equal(await expirePayments(world.context), 0);
});

test('a success before the sweep is booked after the expiry, which gets its event', async () => {
  const { intent, charge } = await world.createSent();
  await world.clock.advance(lifetimeMs);
  await applyResponse(world.context, charge, succeeded(charge));
  const paid = await world.intent(intent);
  assert.deepEqual([paid.status, paid.late], ['successful', true]);
  assert.deepEqual(await world.events(intent), ['payment_intent.created', 'payment_intent.expired']);
  assert.equal(await expirePayments(world.context), 0);
});

test('payments that have ended or are under review do not expire', async () => {
  const paid = await world.createSent();
  await applyResponse(world.context, paid.charge, succeeded(paid.charge));
  const mismatched = await world.createSent();
  await applyResponse(world.context, mismatched.charge, succeeded(mismatched.charge, { amountMinor: 1n }));
  await world.clock.advance(lifetimeMs);
  await expirePayments(world.context);
  assert.equal((await world.intent(paid.intent)).status, 'successful');
  const waiting = await world.intent(mismatched.intent);
  assert.deepEqual([waiting.status, statusAt(waiting, world.clock.now())], ['processing', 'processing']);
  assert.deepEqual(await world.events(mismatched.intent), ['payment_intent.created']);
});

for (const wasWritten of [false, true]) {
  test(`money received after expiry, ${wasWritten ? 'after' : 'before'} the job ran, is booked and late`, async () => {
    const { intent, charge } = await world.createSent();
    await world.clock.advance(lifetimeMs);
    if (wasWritten) await expirePayments(world.context);
    await applyResponse(world.context, charge, succeeded(charge));
    const paid = await world.intent(intent);
    assert.deepEqual([paid.status, paid.late], ['successful', true]);
    assert.equal((await world.charge(charge)).late, true);
    assert.deepEqual(await world.movements(charge), ['collected float:rail-wave → payable_available 10000']);
    await expirePayments(world.context);
    assert.equal((await world.intent(intent)).status, 'successful');
  });
}

test('a refusal after the expiry ends the attempt and leaves the payment expired', async () => {
  const { intent, charge } = await world.createSent();
  await world.clock.advance(lifetimeMs);
  await applyResponse(world.context, charge, refused);
  assert.equal((await world.charge(charge)).status, 'failed');
  assert.equal(statusAt(await world.intent(intent), world.clock.now()), 'expired');
  await expirePayments(world.context);
  assert.deepEqual(await world.events(intent), ['payment_intent.created', 'payment_intent.expired']);
});

test('a charge looked up after the expiry ends with the network’s outcome', async () => {
  const { charge } = await world.createSent();
  await world.clock.advance(lifetimeMs);
  await expirePayments(world.context);
  world.networks.wave.responses.look_up = async ({ reference }) =>
    reference === charge.reference ? succeeded(charge) : { state: 'processing' };
  await world.work();
  assert.equal((await world.charge(charge)).status, 'completed');
});

test('a sweep expires a hundred payments of each merchant, so that no backlog delays another’s', async () => {
  const crowd = await world.newMerchant();
  const single = await world.newMerchant();
  for (let index = 0; index < 101; index += 1) await world.create({}, crowd);
  const { intent } = await world.create({}, single);
  await world.clock.advance(lifetimeMs);
  assert.equal(await expirePayments(world.context), 101);
  assert.equal((await world.intent(intent)).status, 'expired');
  assert.equal(await expirePayments(world.context), 1);
});

test('a payment that cannot be changed keeps no other from expiring, and is tried again', async () => {
  const { intent: stuck } = await world.create();
  const { intent: other } = await world.create();
  await world.clock.advance(lifetimeMs);
  await world.asOwner(`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'canceling statement due to lock timeout' USING ERRCODE = '55P03'; END $$`);
  await world.asOwner(`CREATE TRIGGER refuse_change BEFORE UPDATE ON payment_intents FOR EACH ROW
    WHEN (OLD.id = '${stuck.id}') EXECUTE FUNCTION refuse_change()`);
  await assert.rejects(expirePayments(world.context), { code: 'unavailable' });
  const statusOf = async (intent: typeof stuck) => (await world.intent(intent)).status;
  assert.deepEqual([await statusOf(stuck), await statusOf(other)], ['processing', 'expired']);
  await world.asOwner('DROP TRIGGER refuse_change ON payment_intents');
  await world.asOwner('DROP FUNCTION refuse_change');
  assert.equal(await expirePayments(world.context), 1);
  assert.equal(await statusOf(stuck), 'expired');
});
