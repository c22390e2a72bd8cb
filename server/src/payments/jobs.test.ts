import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { addMs } from '../kit/clock.ts';
import { applyResponse } from './apply-response.ts';
import { cancelPayment } from './cancel-payment.ts';
import type { Charge } from './charge.ts';
import type { Intent } from './intent.ts';
import type { CollectionResponse } from '../networks/contract.ts';
import type { ChangingNetworkRegistry } from '../networks/registry.ts';
import { ScriptedNetwork } from '../networks/scripted-network.corpus.ts';
import { createPaymentWorld, refused, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

beforeEach(async () => {
  world = await createPaymentWorld();
});

afterEach(async () => {
  await world.verify();
  await world.close();
});

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const leaseMs = minuteMs;

function cancel(intent: Intent): Promise<Intent> {
  return world.db.withTransaction((tx) => cancelPayment(tx, world.context, world.merchant, intent.id));
}

function dueAt(kind: string): Promise<Date | undefined> {
  return world.db
    .row<{ dueAt: Date }>({
      name: 'test_due_at',
      text: 'SELECT due_at AS "dueAt" FROM outbox WHERE merchant_id = $1 AND kind = $2',
      values: [world.merchant.id, kind],
    })
    .then((row) => row?.dueAt);
}

test('a start whose worker died during the call is never repeated: a look-up finds the outcome', async () => {
  const { wave } = world.networks;
  wave.responses.start = () => Promise.reject(new Error('the process died'));
  const { charge } = await world.create();
  const [work] = await world.claim();
  assert.ok(work);
  await assert.rejects(world.jobs.start(work), /the process died/);
  assert.equal((await world.charge(charge)).progress, 'submitted');

  wave.responses.look_up = { state: 'unknown', detail: 'no answer' };
  await world.clock.advance(leaseMs);
  assert.deepEqual(await world.work(), ['look_up_charge'], 'which stands in the place of the start');
  assert.equal(wave.count('start'), 1);
  assert.equal((await world.charge(charge)).status, 'pending');

  wave.responses.look_up = succeeded(charge);
  await world.clock.advance(minuteMs);
  await world.work();
  assert.equal((await world.charge(charge)).status, 'completed');
  assert.equal(wave.count('start'), 1);
  assert.equal(await dueAt('look_up_charge'), undefined, 'nothing is looked up any more');
});

test('a start whose worker died before the call is sent once by the next worker', async () => {
  const { charge } = await world.create();
  assert.equal((await world.claim()).length, 1);
  assert.deepEqual(await world.work(), [], 'it is claimed');
  await world.clock.advance(leaseMs);
  assert.deepEqual(await world.work(), ['start_charge']);
  assert.equal(world.networks.wave.count('start'), 1);
  assert.equal((await world.charge(charge)).progress, 'awaiting_payer');
});

test('workers with the same start call the network once, even if one of them is late', async () => {
  await world.openConnections();
  await world.create();
  const [first] = await world.claim();
  await world.clock.advance(leaseMs);
  const [second] = await world.claim();
  assert.ok(first && second);
  await Promise.all([first, second, first, second, first].map((work) => world.jobs.start(work)));
  assert.equal(world.networks.wave.count('start'), 1);
});

test('the attempt and its look-up are stored before the network is called', async () => {
  const seen: unknown[] = [];
  const { charge } = await world.create();
  world.networks.wave.responses.start = async () => {
    seen.push((await world.charge(charge)).progress, await dueAt('look_up_charge'));
    return { state: 'processing' };
  };
  await world.work();
  assert.deepEqual(seen, ['submitted', addMs(charge.createdAt, 5 * secondMs)]);
});

test('a missing response leaves the payment pending, and look-ups follow the network’s schedule', async () => {
  const { wave } = world.networks;
  wave.responses.start = { state: 'unknown', detail: 'no answer within 3000 ms' };
  wave.responses.look_up = { state: 'unknown', detail: 'HTTP 500' };
  const { charge, intent } = await world.create();
  await world.work();
  assert.equal((await world.charge(charge)).progress, 'unknown');
  assert.equal((await world.intent(intent)).status, 'processing');
  assert.deepEqual(await world.notes(charge), ['sent_to_network', 'no_clear_answer']);
  // Two seconds, whatever is left of the call's time; then 3, 5 and 5 for ever.
  for (const [index, waitMs] of [2_000, 3_000, 5_000, 5_000].entries()) {
    await world.clock.advance(waitMs - 1);
    assert.deepEqual(await world.work(), []);
    await world.clock.advance(1);
    assert.deepEqual(await world.work(), ['look_up_charge']);
    assert.equal(wave.count('look_up'), index + 1);
  }
  assert.deepEqual(await world.notes(charge), ['sent_to_network', 'no_clear_answer'], 'the same is noted once');
});

test('“not found” counts only some time after the charge was sent, however long it was queued', async () => {
  const { wave } = world.networks;
  wave.responses.start = { state: 'unknown', detail: 'no answer' };
  wave.responses.look_up = { state: 'not_found' };
  const { charge, intent } = await world.create();
  // No worker ran for ten minutes.
  await world.clock.advance(10 * minuteMs);
  await world.work();
  await world.clock.advance(25 * secondMs);
  assert.deepEqual(await world.work(), ['look_up_charge']);
  assert.equal((await world.charge(charge)).status, 'pending', 'the network may only not know it yet');
  await world.clock.advance(5 * secondMs);
  assert.deepEqual(await world.work(), ['look_up_charge']);
  const failed = await world.charge(charge);
  assert.deepEqual([failed.status, failed.failureCode], ['failed', 'network_unavailable']);
  assert.equal((await world.intent(intent)).status, 'requires_payment_method');
});

test('“not found” from a network that had acknowledged the payment is no refusal', async () => {
  const { wave } = world.networks;
  const { charge } = await world.createSent();
  wave.responses.look_up = { state: 'not_found' };
  for (let minute = 0; minute < 5; minute += 1) {
    await world.clock.advance(minuteMs);
    await world.work();
  }
  assert.equal((await world.charge(charge)).status, 'pending');
  assert.ok(wave.count('look_up') >= 5);
});

test('after a day without an outcome one case is opened, and look-ups go on every hour', async () => {
  const { wave } = world.networks;
  wave.responses.look_up = { state: 'unknown', detail: 'HTTP 500' };
  const { charge } = await world.createSent();
  await world.clock.advance(24 * hourMs + minuteMs);
  await world.work();
  assert.deepEqual(await world.cases(charge), ['outcome_unknown']);
  for (let hour = 0; hour < 3; hour += 1) {
    await world.clock.advance(hourMs - 1);
    assert.deepEqual(await world.work(), []);
    await world.clock.advance(1);
    assert.deepEqual(await world.work(), ['look_up_charge']);
  }
  assert.deepEqual(await world.cases(charge), ['outcome_unknown']);
  wave.responses.look_up = succeeded(charge);
  await world.clock.advance(hourMs);
  await world.work();
  const late = await world.charge(charge);
  assert.deepEqual([late.status, late.late], ['completed', true]);
});

test('a look-up in flight while a callback reports the outcome opens no case of an unknown one', async () => {
  const { wave } = world.networks;
  const { charge } = await world.createSent();
  wave.responses.look_up = { state: 'unknown', detail: 'HTTP 500' };
  await world.clock.advance(25 * 60 * 60 * secondMs);
  wave.responses.look_up = async () => {
    await applyResponse(world.context, charge, succeeded(charge));
    return { state: 'unknown', detail: 'HTTP 500' };
  };
  await world.work();
  assert.deepEqual([(await world.charge(charge)).status, await world.cases(charge)], ['completed', []]);
});

test('a charge whose payment was cancelled or expired before it was sent is never sent', async () => {
  const cancelled = await world.create();
  await cancel(cancelled.intent);
  await world.work();
  const expired = await world.create();
  await world.clock.advance(30 * minuteMs);
  await world.work();
  assert.deepEqual(world.networks.wave.calls, []);
  for (const { charge } of [cancelled, expired]) {
    assert.equal((await world.charge(charge)).status, 'cancelled');
    assert.deepEqual(await world.events(charge), ['charge.created']);
  }
});

test('a cancellation during a start is repeated until the network knows the payment', async () => {
  const { wave } = world.networks;
  const responding = Promise.withResolvers<void>();
  wave.responses.start = async () => {
    await responding.promise;
    return { state: 'processing' };
  };
  wave.responses.cancel = { state: 'not_found' };
  const { charge, intent } = await world.create();
  const [start] = await world.claim();
  assert.ok(start);
  const starting = world.jobs.start(start);
  while (wave.count('start') === 0) await world.charge(charge);
  await cancel(intent);
  assert.deepEqual(await world.work(), ['cancel_charge']);
  responding.resolve();
  await starting;
  assert.equal((await world.charge(charge)).status, 'pending');

  wave.responses.cancel = { state: 'refused', failure: { code: 'cancelled', reason: 'Cancelled.' } };
  wave.responses.look_up = { state: 'processing' };
  await world.clock.advance(5 * secondMs);
  await world.work();
  assert.equal(wave.count('cancel'), 2);
  assert.equal((await world.charge(charge)).status, 'cancelled');
});

test('a cancellation that the network never confirms is sent five times, then looked up', async () => {
  const { wave } = world.networks;
  wave.responses.cancel = { state: 'unknown', detail: 'no answer' };
  wave.responses.look_up = { state: 'unknown', detail: 'no answer' };
  const { intent } = await world.createSent();
  await cancel(intent);
  for (let round = 0; round < 20; round += 1) {
    await world.work();
    await world.clock.advance(5 * secondMs);
  }
  assert.equal(wave.count('cancel'), 5);
  assert.ok((await dueAt('look_up_charge')) !== undefined);
});

test('after a concurrent cancellation and start nothing is sent, or what was sent is cancelled', async () => {
  const { wave } = world.networks;
  await world.openConnections();
  // No network cancels what has not reached it; on a busy machine the cancellation can be there first.
  const cancelled = { state: 'refused', failure: { code: 'cancelled', reason: 'The payment was cancelled.' } } as const;
  wave.responses.cancel = async () => (wave.count('start') > 0 ? cancelled : { state: 'not_found' });
  for (let round = 0; round < 25; round += 1) {
    wave.calls.length = 0;
    const { charge, intent } = await world.create();
    const [start] = await world.claim();
    assert.ok(start);
    const stopping = cancel(intent).then(async () => {
      for (const work of await world.claim()) await world.jobs.cancel(work);
    });
    await Promise.all([world.jobs.start(start), stopping]);
    await world.clock.advance(5 * secondMs);
    await world.work();
    const calls = wave.calls.map(({ call }) => call).filter((call) => call !== 'look_up');
    assert.ok(calls.length === 0 || calls.at(-1) === 'cancel', `round ${round}: ${calls.join(', ')}`);
    assert.equal((await world.charge(charge)).status, 'cancelled');
  }
});

test('a look-up after the charge has ended does nothing', async () => {
  const { wave } = world.networks;
  const { charge } = await world.createSent();
  await world.clock.advance(5 * secondMs);
  const [work] = await world.claim();
  assert.ok(work);
  wave.responses.look_up = refused;
  await world.jobs.lookUp(work);
  await world.jobs.lookUp(work);
  assert.equal(wave.count('look_up'), 1);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.failed']);
});

test('many starts at once each collect once, and nothing has to be done again', async () => {
  const { wave } = world.networks;
  const charges: Charge[] = [];
  for (let count = 0; count < 5; count += 1) charges.push((await world.create()).charge);
  wave.responses.start = (request) => {
    const charge = charges.find(({ reference }) => reference === request.reference);
    assert.ok(charge);
    return Promise.resolve(succeeded(charge, { transactionId: `T-${charge.id}`, networkReference: `N-${charge.id}` }));
  };
  await Promise.all((await world.claim()).map((work) => world.jobs.start(work)));
  for (const charge of charges) assert.equal((await world.charge(charge)).status, 'completed');
  assert.equal(wave.count('start'), 5);
  assert.equal(world.context.sharedCommits.splits, 0);
});

test('a prompt for an ended attempt is not looked up without end where it cannot be cancelled', async () => {
  const network = new ScriptedNetwork('wave', { canCancel: false });
  (world.context.networks as ChangingNetworkRegistry).replace([{ connector: network, rank: 0, isDisabled: false }]);
  const responding = Promise.withResolvers<CollectionResponse>();
  network.responses.start = () => responding.promise;
  network.responses.look_up = { state: 'not_found' };
  const { charge } = await world.create();
  const [start] = await world.claim();
  assert.ok(start);
  const starting = world.jobs.start(start);
  while (network.count('start') === 0) await world.charge(charge);
  for (let look = 0; look < 10; look += 1) {
    await world.clock.advance(5 * secondMs);
    await world.work();
  }
  assert.equal((await world.charge(charge)).status, 'failed');
  const action = { type: 'approve_on_phone' } as const;
  const prompted: CollectionResponse = {
    state: 'awaiting_payer',
    nextAction: action,
    networkReference: 'N',
    handles: {},
  };
  network.responses.look_up = prompted;
  responding.resolve(prompted);
  await starting;
  const looks = network.count('look_up');
  for (let round = 0; round < 5; round += 1) for (const work of await world.claim()) await world.jobs.cancel(work);
  assert.ok(network.count('look_up') <= looks + 1, `${network.count('look_up') - looks} at once`);
});

test('a prompt for an ended attempt that cannot be cancelled just now is tried a few times', async () => {
  const { wave } = world.networks;
  const { intent, charge } = await world.createSent();
  await world.cancel(intent);
  await applyResponse(world.context, charge, refused);
  wave.responses.cancel = wave.responses.start;
  await world.work();
  assert.equal(wave.count('cancel'), 1);
  await world.clock.advance(60 * secondMs);
  await world.work();
  assert.equal(wave.count('cancel'), 2);
});
