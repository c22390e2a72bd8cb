import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { applyResponse } from './apply-response.ts';
import { createCheckout } from './checkout.ts';
import type { CheckoutCharge } from './checkout-view.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, refused, reversed, succeeded } from './payment-world.corpus.ts';
import type { PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

afterEach(() => world.verify());

after(() => world.close());

/** What the page of a payment shows, of the attempt that it tells of. */
async function shown(intent: Intent): Promise<CheckoutCharge> {
  const view = await createCheckout(world.context).find(intent.checkoutToken);
  assert.ok(view?.charge);
  return view.charge;
}

test('the receipt shows the attempt that paid, even if a later one had started', async () => {
  const { intent, charge: first } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, first, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  assert.equal((await shown(intent)).id, second.id, 'until one has paid it is the newest');
  await applyResponse(world.context, first, succeeded(first));
  await world.work();
  const paid = await shown(intent);
  assert.deepEqual(
    [paid.id, paid.networkId, paid.transactionReference, paid.paidAt],
    [first.id, 'wave', first.transactionReference, world.clock.now()],
  );
  await applyResponse(world.context, first, reversed(first));
  assert.deepEqual([(await shown(intent)).id, (await shown(intent)).status], [first.id, 'reversed']);
});

test('a mismatched amount under review is shown even after a later attempt was refused', async () => {
  const { intent, charge: first } = await world.createSent({ network: 'wave' });
  await applyResponse(world.context, first, refused);
  const second = await world.attempt(intent, 'aps');
  await world.work();
  await applyResponse(world.context, first, succeeded(first, { amountMinor: 9_000n }));
  await applyResponse(world.context, second, refused);
  const { id, underReview, arrivedMinor } = await shown(intent);
  assert.deepEqual({ id, underReview, arrivedMinor }, { id: first.id, underReview: true, arrivedMinor: 9_000n });
});
