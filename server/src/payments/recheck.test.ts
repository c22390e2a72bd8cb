import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyNotification, applyResponse } from './apply-response.ts';
import { createPaymentWorld, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';
import type { ProviderNotification, ProviderTransaction } from '../networks/contract.ts';
import type { Charge } from './charge.ts';

const minuteMs = 60_000;

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
  Object.assign(world.networks.aps.collections.capabilities, { recheckAfterMs: [10_000, 60_000] });
});

after(async () => {
  await world.verify();
  await world.close();
});

/** A payment on APS, which reports no reversals: what was paid is looked up again. */
async function paidOnAps() {
  const sent = await world.createSent({ network: 'aps' });
  await applyResponse(world.context, sent.charge, succeeded(sent.charge));
  await world.work();
  return sent.charge;
}

test('a reversal that no callback reports is found by the look-ups after the success', async () => {
  const charge = await paidOnAps();
  world.networks.aps.responses.look_up = succeeded(charge);
  await world.clock.advance(10_000);
  assert.deepEqual(await world.work(), ['recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'completed');
  world.networks.aps.responses.look_up = reversed(charge);
  await world.clock.advance(50_000);
  assert.deepEqual(await world.work(), ['recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.deepEqual(await world.cases(charge), ['network_reversal']);
  await world.clock.advance(3_600_000);
  assert.deepEqual(await world.work(), [], 'no look-up follows the last');
});

test('money held for review is looked up again for a reversal, as booked money is', async () => {
  const { charge } = await world.createSent({ network: 'aps' });
  const held = { amountMinor: charge.amountPaidMinor + 1n };
  await applyResponse(world.context, charge, succeeded(charge, held));
  await world.work();
  world.networks.aps.responses.look_up = reversed(charge, held);
  await world.clock.advance(10_000);
  assert.ok((await world.work()).includes('recheck_charge'));
  assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'network_reversal']);
});

test('a look-up after the success changes nothing but by a reversal', async () => {
  const charge = await paidOnAps();
  for (const state of ['processing', 'not_found'] as const) {
    world.networks.aps.responses.look_up = { state };
    await world.clock.advance(60_000);
    await world.work();
    assert.equal((await world.charge(charge)).status, 'completed', state);
  }
});

test('a callback that proves nothing only brings the look-up forward', async () => {
  const { charge } = await world.createSent({ network: 'aps' });
  const hint = { operation: 'collection', reference: charge.reference, response: null } as const;
  world.networks.aps.responses.look_up = { state: 'processing' };
  assert.equal(await applyNotification(world.context, 'rail-aps', hint), 'applied');
  assert.equal((await world.charge(charge)).status, 'pending');
  world.networks.aps.responses.look_up = succeeded(charge);
  assert.deepEqual(await world.work(), ['look_up_charge']);
  assert.equal((await world.charge(charge)).status, 'completed');
  world.networks.aps.responses.look_up = reversed(charge);
  assert.equal(await applyNotification(world.context, 'rail-aps', hint), 'applied');
  assert.deepEqual(await world.work(), ['recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

const hintAbout = (charge: Charge) =>
  ({ operation: 'collection', reference: charge.reference, response: null }) as const satisfies ProviderNotification;

/** A network that reports a reversal in another place than the success. */
function reportElsewhere(charge: Charge, changes: Partial<ProviderTransaction> = {}): void {
  Object.assign(world.networks.wave.collections.capabilities, { reversalsElsewhere: true });
  world.networks.wave.responses.look_up = async (request) =>
    'hasSucceeded' in request && request.hasSucceeded ? reversed(charge, changes) : succeeded(charge, changes);
}

test('the hint of a reversal that comes before the success is looked up finds the reversal', async () => {
  const { charge } = await world.createSent();
  reportElsewhere(charge);
  await applyNotification(world.context, 'rail-wave', hintAbout(charge));
  assert.deepEqual(await world.work(), ['look_up_charge', 'recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'reversed');
  const { charge: scheduled } = await world.createSent();
  reportElsewhere(scheduled);
  const before = world.networks.wave.count('look_up');
  await world.clock.advance(60_000);
  await world.work();
  assert.equal(world.networks.wave.count('look_up'), before + 1, 'without a hint nothing follows a success');
});

test('the hint of a reversal survives a success that a callback reports before the look-up', async () => {
  const { charge } = await world.createSent();
  reportElsewhere(charge);
  await applyNotification(world.context, 'rail-wave', hintAbout(charge));
  await applyResponse(world.context, charge, succeeded(charge));
  assert.deepEqual(await world.work(), ['look_up_charge', 'recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

for (const network of ['wave', 'aps'] as const) {
  test(`${network}: the hint of a reversal survives the look-up under way that finds the success`, async () => {
    const { charge } = await world.createSent({ network });
    await world.clock.advance(5_000);
    world.networks[network].responses.look_up = async () => {
      world.networks[network].responses.look_up = reversed(charge);
      await applyNotification(world.context, `rail-${network}`, hintAbout(charge));
      return succeeded(charge);
    };
    const done = await world.work();
    assert.deepEqual([done[0], done.at(-1)], ['look_up_charge', 'recheck_charge']);
    assert.equal((await world.charge(charge)).status, 'reversed');
  });
}

test('the hint of a reversal that comes while the success is booked leads to a look-up', async () => {
  const { charge } = await world.createSent();
  reportElsewhere(charge);
  const { merchants } = world.context;
  // Booked after the hint's charge was read, before its lock.
  let isBooked = false;
  const context = {
    ...world.context,
    merchants: {
      ...merchants,
      byToken: merchants.byToken,
      byId: async (id: string) => {
        if (!isBooked) {
          isBooked = true;
          await applyResponse(world.context, charge, succeeded(charge));
        }
        return merchants.byId(id);
      },
    },
  };
  await applyNotification(context, 'rail-wave', hintAbout(charge));
  assert.equal(isBooked, true);
  assert.deepEqual(await world.work(), ['recheck_charge']);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('the hint of a reversal survives half an hour in which the network does not respond', async () => {
  const charge = await paidOnAps();
  await world.clock.advance(2 * minuteMs);
  await world.work();
  world.networks.aps.responses.look_up = { state: 'unknown', detail: 'no answer' };
  const hint = { operation: 'collection', reference: charge.reference, response: null } as const;
  assert.equal(await applyNotification(world.context, 'rail-aps', hint), 'applied');
  for (let minutes = 0; minutes < 30; minutes += 1) {
    await world.work();
    await world.clock.advance(minuteMs);
  }
  world.networks.aps.responses.look_up = reversed(charge);
  await world.clock.advance(60 * minuteMs);
  await world.work();
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('the hint that money held for review was reversed finds the reversal', async () => {
  for (const isHintedFirst of [true, false]) {
    const { charge } = await world.createSent();
    const held = { amountMinor: charge.amountPaidMinor + 1n };
    reportElsewhere(charge, held);
    if (isHintedFirst) await applyNotification(world.context, 'rail-wave', hintAbout(charge));
    await applyResponse(world.context, charge, succeeded(charge, held));
    if (!isHintedFirst) await applyNotification(world.context, 'rail-wave', hintAbout(charge));
    await world.work();
    assert.deepEqual(await world.cases(charge), ['amount_mismatch', 'network_reversal']);
  }
});

/** A payment that Wave did not know when it was looked up. */
async function failedAsUnknown(): Promise<Charge> {
  const { responses } = world.networks.wave;
  responses.start = { state: 'unknown', detail: 'no answer' };
  responses.look_up = { state: 'not_found' };
  const { charge } = await world.createSent({ network: 'wave' });
  await world.clock.advance(30_000);
  await world.work();
  assert.equal((await world.charge(charge)).status, 'failed');
  return charge;
}

function collectAfterAll(charge: Charge): void {
  world.networks.wave.responses.look_up = async ({ reference }) =>
    reference === charge.reference ? succeeded(charge) : { state: 'not_found' };
}

test('a charge unknown to its network is looked up once more, and a collection found then is booked', async () => {
  const charge = await failedAsUnknown();
  // As when the clock of the worker that took this for final was ahead.
  collectAfterAll(charge);
  await world.clock.advance(30_000);
  assert.ok((await world.work()).includes('recheck_charge'));
  const found = await world.charge(charge);
  assert.deepEqual([found.status, found.late], ['completed', true]);
});

test('a look-up that a callback brought forward and that found nothing is done again at its own time', async () => {
  const charge = await failedAsUnknown();
  await applyNotification(world.context, 'rail-wave', hintAbout(charge));
  assert.ok((await world.work()).includes('recheck_charge'));
  assert.equal((await world.charge(charge)).status, 'failed');
  collectAfterAll(charge);
  await world.clock.advance(30_000);
  assert.ok((await world.work()).includes('recheck_charge'));
  assert.equal((await world.charge(charge)).status, 'completed');
});

test('what a network collects after all, and did not know, is stopped and looked up until it has ended', async () => {
  const charge = await failedAsUnknown();
  const { responses } = world.networks.wave;
  const cancelled = world.networks.wave.count('cancel');
  responses.cancel = { state: 'unknown', detail: 'no answer' };
  responses.look_up = async ({ reference }) =>
    reference === charge.reference ? { state: 'processing' } : { state: 'not_found' };
  await world.clock.advance(30_000);
  await world.work();
  assert.equal(world.networks.wave.count('cancel'), cancelled + 1);
  // No callback says that the payer has approved it meanwhile.
  collectAfterAll(charge);
  await world.clock.advance(5_000);
  await world.work();
  const found = await world.charge(charge);
  assert.deepEqual([found.status, found.late], ['completed', true]);
});

test('what a network goes on collecting is cancelled for a day, and the timeline says so once', async () => {
  const charge = await failedAsUnknown();
  const { responses } = world.networks.wave;
  responses.cancel = { state: 'unknown', detail: 'no answer' };
  responses.look_up = async ({ reference }) =>
    reference === charge.reference ? { state: 'processing' } : { state: 'not_found' };
  const before = await world.notes(charge);
  const cancelled = world.networks.wave.count('cancel');
  for (let hours = 0; hours < 30; hours += 1) {
    await world.clock.advance(60 * minuteMs);
    await world.work();
  }
  assert.ok(world.networks.wave.count('cancel') > cancelled + 20);
  assert.deepEqual((await world.notes(charge)).length, before.length + 1);
});
