import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Case } from '../cases/case.ts';
import { confirmResolution } from '../cases/resolve-case.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import type { Intent } from './intent.ts';
import { refused, succeeded } from './payment-world.corpus.ts';
import { createChargeResolvers } from './resolve-case.ts';
import { createResolveWorld, type ResolveWorld } from './resolve-world.corpus.ts';

let world: ResolveWorld;

before(async () => {
  world = await createResolveWorld();
  world.networks.wave.responses.look_up = { state: 'unknown', detail: 'no answer' };
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

const hourMs = 60 * 60_000;
const collected = 'collected float:rail-wave → payable_available 10000';

/** A payment of which the network has said nothing for more than a day. */
async function unknownOutcome(): Promise<{ intent: Intent; charge: Charge; found: Case }> {
  const { intent, charge } = await world.createSent();
  await world.clock.advance(25 * hourMs);
  await world.work();
  return { intent, charge: await world.charge(charge), found: await world.caseOf(charge, 'outcome_unknown') };
}

/** A payment for which the network named a transaction that had paid something else. */
async function reused() {
  const owner = await world.createSent();
  const { intent, charge } = await world.createSent();
  const transactionId = `T-of-${owner.charge.reference}`;
  await applyResponse(world.context, owner.charge, succeeded(owner.charge, { transactionId }));
  await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
  return { intent, charge, found: await world.caseOf(charge, 'receipt_reused') };
}

const reported = (charge: Charge, amountMinor = 10_000n) => ({ transactionId: `T-${charge.reference}`, amountMinor });

test('an unknown outcome resolved as paid is booked like a success, and its transaction settles once', async () => {
  const { intent, charge, found } = await unknownOutcome();
  assert.deepEqual(await world.possible(found), ['paid', 'not_paid']);
  await world.resolve(found, 'paid', reported(charge));
  assert.deepEqual(await world.movements(charge), [collected]);
  const paid = await world.charge(charge);
  assert.deepEqual([paid.status, paid.networkTransactionId], ['completed', `T-${charge.reference}`]);
  const now = await world.intent(intent);
  assert.deepEqual([now.status, now.late], ['successful', true]);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
  // The network's own notification of it, at last.
  await applyResponse(world.context, charge, succeeded(charge));
  await world.clock.advance(2 * hourMs);
  await world.work();
  assert.deepEqual(await world.movements(charge), [collected]);
  const other = await world.createSent();
  const { transactionId } = reported(charge);
  await applyResponse(world.context, other.charge, succeeded(other.charge, { transactionId }));
  assert.deepEqual(await world.cases(other.charge), ['receipt_reused']);
});

test('money that was typed under another id than the network then reports is booked once, with that id', async () => {
  const { charge, found } = await unknownOutcome();
  const start = await world.balance('float:rail-wave');
  await world.resolve(found, 'paid', { transactionId: 'T-mistyped', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge));
  const second = await world.caseOf(charge, 'second_success');
  assert.deepEqual(await world.possible(second), ['accept', 'return', 'same_money']);
  await world.resolve(second, 'same_money');
  assert.equal((await world.balance('float:rail-wave')) - start, 10_000n);
  assert.equal(await world.balance('suspense'), 0n);
  const paid = await world.charge(charge);
  assert.deepEqual([paid.status, paid.review, paid.networkTransactionId], ['completed', null, `T-${charge.reference}`]);
  await applyResponse(world.context, charge, succeeded(charge));
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'T-really-second' }));
  const third = await world.caseOf(charge, 'second_success', 'T-really-second');
  assert.deepEqual(await world.possible(third), ['accept', 'return'], 'twice is no mistake');
  await world.resolve(third, 'return');
});

test('an unknown outcome that was paid with another amount opens a case of that', async () => {
  const { charge, found } = await unknownOutcome();
  await world.resolve(found, 'paid', reported(charge, 9_000n));
  assert.deepEqual(await world.movements(charge), ['suspense float:rail-wave → suspense 9000']);
  assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'outcome_unknown']);
  assert.equal(await world.statusOf(found), 'resolved paid');
  await world.resolve(await world.caseOf(charge, 'amount_mismatch'), 'accept');
  assert.equal((await world.charge(charge)).status, 'completed');
});

test('a transaction that has settled something else cannot pay an unknown outcome', async () => {
  const { charge, found } = await unknownOutcome();
  const owner = await world.createSent();
  await applyResponse(world.context, owner.charge, succeeded(owner.charge));
  await world.propose(found, 'paid', reported(owner.charge));
  await world.refused(world.confirm(found), /has settled something else/);
  assert.deepEqual(await world.movements(charge), []);
  assert.equal(await world.statusOf(found), 'open');
  assert.deepEqual(await world.cases(charge), ['outcome_unknown']);
});

test('a transaction that a refused confirmation names pays its own payment all the same', async () => {
  const { charge, found } = await unknownOutcome();
  const owner = await world.createSent();
  await world.propose(found, 'paid', reported(owner.charge));
  const resolvers = createChargeResolvers(world.context);
  const revoked = { ...world.context, resolvers, isOperator: () => Promise.resolve(false) };
  const confirmation = { caseId: found.id, operatorId: world.context.newId() };
  await world.refused(confirmResolution(revoked, confirmation), /has been revoked/);
  await applyResponse(world.context, owner.charge, succeeded(owner.charge));
  assert.equal((await world.charge(owner.charge)).status, 'completed');
  assert.deepEqual(await world.cases(owner.charge), []);
  assert.deepEqual(await world.movements(charge), []);
});

test('an unknown outcome that was not paid ends the attempt, and nothing is looked up any more', async () => {
  const { intent, charge, found } = await unknownOutcome();
  await world.resolve(found, 'not_paid');
  const failed = await world.charge(charge);
  assert.deepEqual([failed.status, failed.failureCode], ['failed', 'not_paid']);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.failed']);
  assert.equal(
    (await world.intent(intent)).status,
    'processing',
    'its time was over before: the sweep writes that down',
  );
  const requested = () => world.networks.wave.calls.filter(({ reference }) => reference === charge.reference).length;
  const before = requested();
  await world.clock.advance(2 * hourMs);
  await world.work();
  assert.equal(requested(), before);
  // If the network says otherwise after all, the money is booked.
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await world.movements(charge), [collected]);
});

for (const [proposed, response] of [
  ['paid', 'succeeded'],
  ['not_paid', 'succeeded'],
  ['paid', 'refused'],
  ['not_paid', 'refused'],
] as const) {
  test(`proposed ${proposed}, then reported ${response}: the case is acknowledged, nothing is booked twice`, async () => {
    const { charge, found } = await unknownOutcome();
    await world.propose(found, proposed, proposed === 'paid' ? reported(charge) : null);
    await applyResponse(world.context, charge, response === 'succeeded' ? succeeded(charge) : refused);
    const settled = await world.charge(charge);
    await world.refused(world.confirm(found), /responded meanwhile and the attempt is (completed|failed)/);
    assert.deepEqual(await world.possible(found), ['acknowledge']);
    await world.resolve(found, 'acknowledge');
    assert.equal(await world.statusOf(found), 'resolved acknowledge');
    assert.deepEqual(await world.charge(charge), settled);
    assert.deepEqual(await world.movements(charge), response === 'succeeded' ? [collected] : []);
  });
}

test('a concurrent confirmation and network response book the payment once', async () => {
  for (let round = 0; round < 12; round += 1) {
    const { charge, found } = await unknownOutcome();
    await world.propose(found, round % 2 === 0 ? 'paid' : 'not_paid', round % 2 === 0 ? reported(charge) : null);
    await Promise.allSettled([world.confirm(found), applyResponse(world.context, charge, succeeded(charge))]);
    assert.deepEqual(await world.movements(charge), [collected], `round ${round}`);
    assert.equal((await world.charge(charge)).status, 'completed');
  }
});

test('two operators who confirm the same payment concurrently book it once', async () => {
  const { charge, found } = await unknownOutcome();
  await world.propose(found, 'paid', reported(charge));
  const responses = await Promise.allSettled(Array.from({ length: 6 }, () => world.confirm(found)));
  assert.equal(responses.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.deepEqual(await world.movements(charge), [collected]);
});

test('a reused transaction: not paid ends the attempt, and the payer may try again', async () => {
  const { intent, charge, found } = await reused();
  assert.deepEqual(await world.possible(found), ['not_paid']);
  await world.resolve(found, 'not_paid');
  const failed = await world.charge(charge);
  assert.deepEqual([failed.status, failed.review, failed.failureCode], ['failed', null, 'not_paid']);
  assert.equal((await world.intent(intent)).status, 'requires_payment_method');
  assert.deepEqual(await world.movements(charge), []);
});

test('a reused transaction of an attempt that was paid later is only acknowledged', async () => {
  const { charge, found } = await reused();
  await world.propose(found, 'not_paid');
  await applyResponse(world.context, charge, succeeded(charge));
  await world.refused(world.confirm(found), /completed already: acknowledge/);
  await world.resolve(found, 'acknowledge');
  const paid = await world.charge(charge);
  assert.deepEqual([paid.status, paid.review], ['completed', null]);
  assert.deepEqual(await world.movements(charge), [collected]);
});

test('an attempt whose money is in suspense cannot be resolved as not paid', async () => {
  const { charge, found } = await reused();
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 9_000n }));
  await world.refused(world.propose(found, 'not_paid'), /because of amount_mismatch: resolve that case first/);
  await world.resolve(await world.caseOf(charge, 'amount_mismatch'), 'return');
  assert.equal((await world.charge(charge)).review, 'receipt_reused');
  await world.resolve(found, 'not_paid');
  assert.equal((await world.charge(charge)).status, 'failed');
});
