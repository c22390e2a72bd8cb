import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from './apply-response.ts';
import type { Charge } from './charge.ts';
import { chargeToWire } from './charge-wire.ts';
import { expirePayments } from './expire-payments.ts';
import { findPayment } from './find-payment.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';
import { paymentTimeline } from './timeline.ts';

let world: PaymentWorld;

beforeEach(async () => {
  world = await createPaymentWorld();
});

afterEach(async () => {
  await world.verify();
  await world.close();
});

const minuteMs = 60_000;
const otherNumber = '7004321';

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'state_conflict';
}

async function statuses(intent: Intent): Promise<string[]> {
  const charges = await world.charges(intent);
  return [(await world.intent(intent)).status, ...charges.map(({ status }) => status)];
}

/** The calls that a charge's networks received for it, without look-ups by schedule. */
function callsOf({ reference }: Charge): string[] {
  const calls = Object.values(world.networks).flatMap((network) => network.calls);
  return calls.filter((call) => call.reference === reference).map(({ call }) => call);
}

/** A payment whose sent attempt the payer has left, at a network that goes on collecting: its prompt stays open. */
async function createAbandoned(): Promise<{ intent: Intent; charge: Charge }> {
  world.networks.wave.responses.cancel = { state: 'unknown', detail: 'no answer' };
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  await world.work();
  return { intent, charge: await world.charge(charge) };
}

test('an attempt that the payer leaves is cancelled at its network, and another number may follow', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'pending']);
  assert.deepEqual((await world.charge(charge)).abandonedAt, world.clock.now());
  await world.work();
  assert.deepEqual(callsOf(charge), ['start', 'cancel']);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'cancelled']);
  const second = await world.attempt(intent, 'wave', otherNumber);
  await world.work();
  await applyResponse(world.context, second, succeeded(second));
  assert.deepEqual(await statuses(intent), ['successful', 'cancelled', 'completed']);
  assert.deepEqual(await world.events(charge), ['charge.created'], 'nobody refused it');
});

test('an attempt that the payer leaves before it was sent is never sent', async () => {
  const { intent, charge } = await world.create();
  await world.abandon(intent);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'cancelled']);
  assert.deepEqual(await world.work(), ['start_charge']);
  assert.deepEqual(callsOf(charge), []);
  assert.deepEqual(await world.notes(charge), ['attempt_abandoned']);
});

test('the success of an abandoned attempt pays in time, and the current one is cancelled', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'pending']);
  assert.deepEqual([(await world.intent(intent)).late, (await world.charge(charge)).late], [false, false]);
  await world.work();
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'cancelled']);
  assert.deepEqual(callsOf(second), ['start', 'cancel']);
});

test('an abandoned attempt that fails ends alone, and one that expires at its network is cancelled', async () => {
  for (const code of ['declined_by_payer', 'expired', 'cancelled'] as const) {
    const { intent, charge } = await createAbandoned();
    const second = await world.attempt(intent, 'aps', otherNumber);
    await world.work();
    await applyResponse(world.context, charge, { state: 'refused', failure: { code, reason: 'It has ended.' } });
    const status = code === 'declined_by_payer' ? 'failed' : 'cancelled';
    assert.deepEqual(await statuses(intent), ['processing', status, 'pending'], code);
    await applyResponse(world.context, second, succeeded(second));
    assert.deepEqual(await statuses(intent), ['successful', status, 'completed'], code);
  }
});

test('a refusal of an abandoned attempt before there is another leaves the payment open', async () => {
  const { intent, charge } = await createAbandoned();
  await applyResponse(world.context, charge, refused);
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'failed']);
});

test('of two successes, abandoned and current, one is booked and the other waits with a case', async () => {
  for (const isAbandonedFirst of [true, false]) {
    const { intent, charge } = await createAbandoned();
    const second = await world.attempt(intent, 'aps', otherNumber);
    await world.work();
    const [paid, suspended] = isAbandonedFirst ? [charge, second] : [second, charge];
    for (const each of [paid, suspended, paid, suspended]) await applyResponse(world.context, each, succeeded(each));
    assert.equal((await world.charge(paid)).status, 'completed');
    assert.deepEqual([await world.cases(paid), await world.cases(suspended)], [[], ['second_success']]);
    const [booked, ...more] = [...(await world.movements(paid)), ...(await world.movements(suspended))];
    assert.match(String(booked), /^collected .* → payable_available 10000$/);
    assert.match(more.join(), /^suspense .* → suspense 10000$/);
  }
});

test('an abandoned attempt is cancelled once more before the new prompt', async () => {
  const { intent, charge } = await createAbandoned();
  await world.attempt(intent, 'aps', otherNumber);
  world.networks.wave.responses.cancel = async () => {
    assert.equal(world.networks.aps.count('start'), 0, 'the new prompt waits for it');
    return { state: 'refused', failure: { code: 'cancelled', reason: 'Cancelled.' } };
  };
  await world.work();
  assert.deepEqual(callsOf(charge), ['start', 'cancel', 'cancel']);
  assert.deepEqual(await statuses(intent), ['processing', 'cancelled', 'pending']);
  assert.equal(world.networks.aps.count('start'), 1);
});

test('an abandoned attempt that turns out to be paid before the new prompt stops it', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  world.networks.wave.responses.cancel = succeeded(charge);
  await world.work();
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'cancelled']);
  assert.deepEqual(callsOf(second), []);
});

test('another amount that an abandoned attempt turns out to have paid stops the new prompt too', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  world.networks.wave.responses.cancel = succeeded(charge, { amountMinor: 9_000n });
  await world.work();
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'pending', 'cancelled']);
  assert.equal((await world.intent(intent)).review, 'amount_mismatch');
  assert.deepEqual(callsOf(second), []);
});

test('another amount that an abandoned attempt has paid cancels the new prompt that was sent', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  assert.deepEqual(callsOf(second), ['start']);
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 9_000n }));
  world.networks.aps.responses.cancel = refused;
  await world.work();
  assert.deepEqual(callsOf(second), ['start', 'cancel']);
  assert.equal((await world.intent(intent)).review, 'amount_mismatch');
  assert.deepEqual(await statuses(intent), ['requires_payment_method', 'pending', 'failed']);
});

test('a payer goes back to the same prompt three times, not without end', async () => {
  const { intent, charge } = await createAbandoned();
  for (let time = 0; time < 3; time += 1) {
    await world.attempt(intent, 'wave');
    await world.abandon(intent);
  }
  await assert.rejects(world.attempt(intent, 'wave'), { code: 'network_not_available' });
  assert.equal((await world.notes(charge)).filter((kind) => kind === 'attempt_resumed').length, 3);
  await world.attempt(intent, 'aps', otherNumber);
});

test('a network that cannot cancel is looked up instead, and once more before the new prompt', async () => {
  const { wave } = world.networks;
  Object.assign(wave.collections.capabilities, { canCancel: false });
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  await world.work();
  assert.deepEqual(callsOf(charge), ['start', 'look_up']);
  await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  assert.deepEqual(callsOf(charge), ['start', 'look_up', 'look_up']);
  assert.equal(world.networks.aps.count('start'), 1);
});

test('an abandoned attempt whose network does not respond delays the new prompt for one call only', async () => {
  const { intent, charge } = await createAbandoned();
  await world.attempt(intent, 'aps', otherNumber);
  world.networks.wave.responses.cancel = () => Promise.reject(new Error('a mistake'));
  await world.work();
  assert.equal(world.networks.aps.count('start'), 1);
  assert.deepEqual(await statuses(intent), ['processing', 'pending', 'pending']);
  assert.ok(world.logged.some((line) => line.includes(charge.id)));
});

test('a payer cannot leave an attempt that is not open, a second time, or under review', async () => {
  const fresh = await world.createSent();
  await world.abandon(fresh.intent);
  await assert.rejects(world.abandon(fresh.intent), isConflict, 'pressed twice');
  const failed = await world.createSent();
  await applyResponse(world.context, failed.charge, refused);
  await assert.rejects(world.abandon(failed.intent), isConflict);
  const paid = await world.createSent();
  await applyResponse(world.context, paid.charge, succeeded(paid.charge));
  await assert.rejects(world.abandon(paid.intent), isConflict);
  const mismatch = await world.createSent();
  await applyResponse(world.context, mismatch.charge, succeeded(mismatch.charge, { amountMinor: 9_000n }));
  await assert.rejects(world.abandon(mismatch.intent), isConflict);
  const expired = await world.createSent();
  await world.clock.advance(30 * minuteMs);
  await assert.rejects(world.abandon(expired.intent), isConflict);
});

test('abandoned attempts count: the fifth cannot be left, and its refusal fails the payment', async () => {
  const { intent, charge } = await createAbandoned();
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    await world.attempt(intent, 'wave', `700000${attempt}`);
    await world.work();
    if (attempt < 5) await world.abandon(intent);
  }
  await assert.rejects(world.abandon(intent), isConflict);
  // The five cancellations of the abandonment are over.
  for (let minute = 0; minute < 6; minute += 1) {
    await world.clock.advance(minuteMs);
    await world.work();
  }
  const cancelsBefore = callsOf(charge).filter((call) => call === 'cancel').length;
  const fifth = (await world.charges(intent)).at(-1) ?? assert.fail();
  await applyResponse(world.context, fifth, refused);
  await world.work();
  assert.deepEqual(await statuses(intent), ['failed', 'pending', 'pending', 'pending', 'pending', 'failed']);
  assert.equal(callsOf(charge).filter((call) => call === 'cancel').length, cancelsBefore + 1);
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual([(await world.intent(intent)).status, (await world.intent(intent)).late], ['successful', true]);
});

test('a payment that is cancelled or expires cancels abandoned attempts at their networks', async () => {
  for (const end of ['cancel', 'expire']) {
    const { intent, charge } = await createAbandoned();
    await world.attempt(intent, 'aps', otherNumber);
    await world.work();
    await world.clock.advance(29 * minuteMs);
    await world.work();
    const before = callsOf(charge).filter((call) => call === 'cancel').length;
    if (end === 'cancel') await world.cancel(intent);
    else {
      await world.clock.advance(minuteMs);
      assert.equal(await expirePayments(world.context), 1);
    }
    world.networks.wave.responses.cancel = {
      state: 'refused',
      failure: { code: 'cancelled', reason: 'The payment was cancelled.' },
    };
    await world.work();
    assert.ok(callsOf(charge).filter((call) => call === 'cancel').length > before, end);
    assert.equal((await world.charge(charge)).status, 'cancelled');
  }
});

test('an abandoned attempt is looked up until its outcome is known, after a day with a case', async () => {
  const { wave, aps } = world.networks;
  wave.responses.look_up = { state: 'unknown', detail: 'no answer' };
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.work();
  aps.responses.look_up = refused;
  await applyResponse(world.context, second, refused);
  await world.clock.advance(24 * 60 * minuteMs + minuteMs);
  await world.work();
  assert.deepEqual(await world.cases(charge), ['outcome_unknown']);
  wave.responses.look_up = succeeded(charge);
  await world.clock.advance(60 * minuteMs);
  await world.work();
  assert.deepEqual(await statuses(intent), ['successful', 'completed', 'failed']);
});

test('an abandoned attempt’s record says when it was left, and that the payer has nothing to do for it', async () => {
  const { intent, charge } = await createAbandoned();
  const wire = async () => {
    const { abandoned_at, next_action, requires_auth, status } = chargeToWire(
      world.context,
      world.merchant,
      intent,
      await world.charge(charge),
    );
    return { abandoned_at, next_action, requires_auth, status };
  };
  const leftAt = world.clock.now().toISOString();
  assert.deepEqual(await wire(), {
    abandoned_at: leftAt,
    next_action: null,
    requires_auth: false,
    status: 'pending',
  });
  await world.attempt(intent, 'wave');
  await world.work();
  const nextAction = { type: 'approve_on_phone' };
  assert.deepEqual(await wire(), {
    abandoned_at: null,
    next_action: nextAction,
    requires_auth: true,
    status: 'pending',
  });
});

test('an intent’s record shows the current attempt, and its timeline every attempt', async () => {
  const { intent, charge } = await createAbandoned();
  const second = await world.attempt(intent, 'aps', otherNumber);
  await world.abandon(intent);
  const resumed = await world.attempt(intent, 'wave');
  assert.equal(resumed.id, charge.id);
  const { charge: shown } = await findPayment(world.db, intent.merchantId, intent.id);
  assert.equal(shown?.id, charge.id, 'the first is current, though the second is newer');
  const timeline = await paymentTimeline(world.context, intent);
  const changes = timeline.filter(({ kind }) => String(kind).startsWith('attempt_'));
  assert.deepEqual(
    changes.map((entry) => [entry['transaction_id'], entry['kind'], entry['detail']]),
    [
      [charge.id, 'attempt_abandoned', 'The payer left this attempt to use another number or network.'],
      [second.id, 'attempt_abandoned', 'The payer left this attempt to use another number or network.'],
      [charge.id, 'attempt_resumed', 'The payer went back to this attempt.'],
    ],
  );
});
