import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { applyResponse } from './apply-response.ts';
import { createCheckout } from './checkout.ts';
import type { CheckoutCharge, CheckoutView } from './checkout-view.ts';
import type { Intent } from './intent.ts';
import { createPaymentWorld, refused, reversed, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

afterEach(() => world.verify());

after(() => world.close());

async function viewOf(intent: Intent): Promise<CheckoutView> {
  return (await createCheckout(world.context).find(intent.checkoutToken)) ?? assert.fail();
}

/** What the page of a payment shows, of the attempt that it tells of. */
async function shown(intent: Intent): Promise<CheckoutCharge> {
  return (await viewOf(intent)).charge ?? assert.fail();
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

const cause = { requestId: 'req_test' };

test('the view says whether the payer may change the number, of which attempt, and since when it waits', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  const waiting = await viewOf(intent);
  assert.deepEqual([waiting.canChange, waiting.openPrompts, waiting.attemptsLeft], [true, [], 4]);
  assert.deepEqual([waiting.charge?.number, waiting.charge?.waitingSince], ['7001234', charge.createdAt]);
  const left = await createCheckout(world.context).abandon(intent.checkoutToken, charge.id, cause);
  assert.deepEqual([left.status, left.canChange, left.attemptsLeft], ['requires_payment_method', false, 4]);
  await world.cancel(intent);
  assert.equal((await viewOf(intent)).canChange, false);
});

test('the view names abandoned attempts while they are open, and shows the current one', async () => {
  const { wave } = world.networks;
  const cancelResponse = wave.responses.cancel;
  wave.responses.cancel = { state: 'unknown', detail: 'no answer' };
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  const { id, transactionReference } = charge;
  const ways = { networkName: 'Wave', maskedNumber: '.... 1234', number: '7001234', receivedDirectly: false };
  const prompt = { id, ...ways, transactionReference };
  assert.deepEqual((await viewOf(intent)).openPrompts, [prompt]);
  const second = await world.attempt(intent, 'aps', '7004321');
  await world.work();
  const changed = await viewOf(intent);
  assert.deepEqual([changed.charge?.id, changed.canChange, changed.openPrompts], [second.id, true, [prompt]]);
  await world.abandon(intent);
  await world.attempt(intent, 'wave');
  assert.deepEqual((await viewOf(intent)).charge?.id, charge.id, 'though the other one is newer');
  await applyResponse(world.context, charge, succeeded(charge));
  await world.work();
  const paid = await viewOf(intent);
  assert.deepEqual([paid.charge?.id, paid.canChange, paid.openPrompts], [charge.id, false, []]);
  wave.responses.cancel = cancelResponse;
});

test('a page that still shows an earlier attempt cannot leave the current one', async () => {
  const { intent, charge } = await world.createSent({ network: 'wave' });
  await world.abandon(intent);
  const second = await world.attempt(intent, 'aps', '7004321');
  await world.work();
  const checkout = createCheckout(world.context);
  for (const stale of [charge.id, null]) {
    await assert.rejects(checkout.abandon(intent.checkoutToken, stale, cause), { code: 'state_conflict' });
  }
  assert.equal((await world.charge(second)).abandonedAt, null);
});

test('a code goes to the current attempt, and to none once the payer has left it', async () => {
  const { wave } = world.networks;
  const startResponse = wave.responses.start;
  const nextAction = { type: 'enter_code', length: 6 } as const;
  wave.responses.start = { state: 'awaiting_payer', nextAction, networkReference: 'N-1', handles: {} };
  wave.responses.cancel = { state: 'unknown', detail: 'no answer' };
  const { intent, charge } = await world.createSent({ network: 'wave' });
  const checkout = createCheckout(world.context);
  await checkout.abandon(intent.checkoutToken, charge.id, cause);
  await assert.rejects(checkout.proceed(intent.checkoutToken, '123456'), { code: 'state_conflict' });
  const second = await world.attempt(intent, 'wave', '7004321');
  await world.work();
  await checkout.proceed(intent.checkoutToken, '123456');
  await world.abandon(intent);
  // At once, without the wait for a new attempt's first response, for which the clock of this world stands still.
  await checkout.pay(intent.checkoutToken, { network: 'wave', accountNumber: '7001234' }, cause);
  await checkout.proceed(intent.checkoutToken, '654321');
  const continued = wave.calls.filter(({ call }) => call === 'continue').map(({ reference }) => reference);
  assert.deepEqual(continued, [second.reference, charge.reference]);
  wave.responses.start = startResponse;
});
