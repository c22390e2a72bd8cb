import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyNotification, applyResponse } from './apply-response.ts';
import { createPaymentWorld, reversed, succeeded } from './payment-world.corpus.ts';
import type { PaymentWorld } from './payment-world.corpus.ts';

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
