import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from './apply-response.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

// What the payer does at the moment at which a network, a worker or a second page does something else. Either order is
// right; what must not happen is a mixture.

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

const rounds = 20;
const otherNumber = '7004321';

async function statuses(intent: Intent): Promise<string[]> {
  const charges = await world.charges(intent);
  return [(await world.intent(intent)).status, ...charges.map(({ status }) => status)];
}

/** The result, or the refusal's code. */
function outcomeOf(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'done',
    (error: unknown) => (error instanceof AppError ? error.code : assert.fail(String(error))),
  );
}

test('of an abandonment and a success at once, the success pays in either order', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { intent, charge } = await world.createSent();
    const [left] = await Promise.all([
      outcomeOf(world.abandon(intent)),
      applyResponse(world.context, charge, succeeded(charge)),
    ]);
    assert.ok(left === 'done' || left === 'state_conflict', left);
    assert.deepEqual(await statuses(intent), ['successful', 'completed']);
    assert.deepEqual(await world.movements(charge), ['collected float:rail-wave → payable_available 10000']);
  }
  await world.work();
});

test('of an abandonment and a start at once, the attempt is never sent or is cancelled after it was sent', async () => {
  const { wave } = world.networks;
  for (let round = 0; round < rounds; round += 1) {
    const { intent, charge } = await world.create();
    const [start] = await world.claim();
    assert.ok(start);
    await Promise.all([world.jobs.start(start), world.abandon(intent)]);
    await world.work();
    const calls = wave.calls.filter(({ reference }) => reference === charge.reference).map(({ call }) => call);
    assert.ok(calls.length === 0 || calls.at(-1) === 'cancel', calls.join());
    assert.deepEqual(await statuses(intent), ['requires_payment_method', 'cancelled']);
  }
});

test('of two abandonments at once one is accepted', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { intent, charge } = await world.createSent();
    const outcomes = await Promise.all([outcomeOf(world.abandon(intent)), outcomeOf(world.abandon(intent))]);
    assert.deepEqual(outcomes.toSorted(), ['done', 'state_conflict']);
    assert.deepEqual(
      (await world.notes(charge)).filter((kind) => kind === 'attempt_abandoned'),
      ['attempt_abandoned'],
    );
  }
  await world.work();
});

test('of an abandonment and a cancellation at once, the payment ends cancelled in either order', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { intent } = await world.createSent();
    const [left, cancelled] = await Promise.all([outcomeOf(world.abandon(intent)), outcomeOf(world.cancel(intent))]);
    assert.equal(cancelled, 'done');
    assert.ok(left === 'done' || left === 'state_conflict', left);
    await world.work();
    assert.deepEqual(await statuses(intent), ['cancelled', 'cancelled']);
  }
});

test('of a success of an abandoned attempt and the start of the next at once, only one collects', async () => {
  const { wave, aps } = world.networks;
  const cancelResponse = wave.responses.cancel;
  for (let round = 0; round < rounds; round += 1) {
    wave.responses.cancel = { state: 'processing' };
    const { intent, charge } = await world.createSent();
    await world.abandon(intent);
    await world.work();
    const second = await world.attempt(intent, 'aps', otherNumber);
    const [start] = await world.claim();
    assert.ok(start);
    await Promise.all([world.jobs.start(start), applyResponse(world.context, charge, succeeded(charge))]);
    await world.work();
    assert.deepEqual(await statuses(intent), ['successful', 'completed', 'cancelled']);
    const calls = aps.calls.filter(({ reference }) => reference === second.reference).map(({ call }) => call);
    assert.ok(calls.length === 0 || calls.at(-1) === 'cancel', calls.join());
  }
  wave.responses.cancel = cancelResponse;
});

test('of two returns to an abandoned attempt at once one is accepted, and none starts another', async () => {
  const { wave } = world.networks;
  const cancelResponse = wave.responses.cancel;
  wave.responses.cancel = { state: 'processing' };
  for (let round = 0; round < rounds; round += 1) {
    const { intent } = await world.createSent();
    await world.abandon(intent);
    const outcomes = await Promise.all([1, 2].map(() => outcomeOf(world.attempt(intent, 'wave'))));
    assert.deepEqual(outcomes.toSorted(), ['done', 'state_conflict']);
    assert.deepEqual(await statuses(intent), ['processing', 'pending']);
  }
  wave.responses.cancel = cancelResponse;
});

test('of two workers with one start, one late at an abandoned attempt, the new prompt is sent once', async () => {
  const { wave, aps } = world.networks;
  const cancelResponse = wave.responses.cancel;
  wave.responses.cancel = { state: 'processing' };
  const { intent } = await world.createSent();
  await world.abandon(intent);
  await world.work();
  const second = await world.attempt(intent, 'aps', otherNumber);
  const [first] = await world.claim();
  assert.ok(first);
  const responding = Promise.withResolvers<void>();
  wave.responses.cancel = async () => {
    await responding.promise;
    return { state: 'processing' };
  };
  const cancelsBefore = wave.count('cancel');
  const late = world.jobs.start(first);
  while (wave.count('cancel') === cancelsBefore) await world.charge(second);
  wave.responses.cancel = { state: 'processing' };
  // The lease of the first worker ends.
  await world.clock.advance(60_000);
  await world.work();
  responding.resolve();
  await late;
  const calls = aps.calls.filter(({ reference, call }) => reference === second.reference && call === 'start');
  assert.equal(calls.length, 1);
  assert.deepEqual(await statuses(intent), ['processing', 'pending', 'pending']);
  wave.responses.cancel = cancelResponse;
});
