import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';

let story: PaymentStory;

before(async () => {
  story = await startPaymentStory();
});

afterEach(() => story.verify());

after(() => story.stop());

const secondMs = 1_000;
const tapNumber = '7001234';

/** Pays on the hosted page by another network; returns the new attempt's transaction id. */
async function tryAgain(id: string, network: string, accountNumber: string): Promise<string> {
  assert.equal(await story.postForm(id, '', { network, account_number: accountNumber }), 303);
  await story.settle();
  return chargeId(id);
}

async function chargeId(id: string): Promise<string> {
  return String((await story.transaction(id))['id']);
}

async function statuses(id: string, ...chargeIds: string[]): Promise<unknown[]> {
  const charges = await Promise.all(chargeIds.map((charge) => story.transaction(charge)));
  return [(await story.intent(id))['status'], ...charges.map((charge) => charge['status'])];
}

test('a payment refused on one network is paid on another', async () => {
  const id = await story.paySettled('7000003', { network: 'qmoney' });
  const first = await chargeId(id);
  const second = await tryAgain(id, 'aps', '7000001');
  assert.deepEqual(await statuses(id, first, second), ['successful', 'failed', 'completed']);
  const intent = await story.intent(id);
  assert.deepEqual([intent['attempts'], intent['late'], intent['transaction_id']], [2, false, second]);
  assert.deepEqual(await story.events(id), ['payment_intent.created']);
  assert.deepEqual(await story.events(first), ['charge.created', 'charge.failed']);
  assert.deepEqual(await story.events(second), ['charge.created', 'charge.succeeded']);
});

test('after the fifth refusal the payment has failed and accepts no further attempt', async () => {
  const id = await story.paySettled('7000002');
  for (let attempt = 2; attempt <= 5; attempt += 1) {
    assert.equal((await story.intent(id))['status'], 'requires_payment_method');
    await tryAgain(id, 'aps', '7000002');
  }
  const failed = await story.intent(id);
  assert.deepEqual([failed['status'], failed['attempts']], ['failed', 5]);
  await story.postForm(id, '', { network: 'aps', account_number: '7000001' });
  await story.settle();
  assert.deepEqual((await story.intent(id))['attempts'], 5);
  assert.equal((await story.intent(id))['status'], 'failed');
});

test('a first attempt that succeeds after the second one paid goes to suspense, with a case', async () => {
  const id = await story.paySettled(tapNumber, { network: 'aps' });
  const first = await chargeId(id);
  await story.onPhone(first, 'decline');
  const second = await tryAgain(id, 'afrimoney', '7000001');
  const merchantHas = await story.balance('payable_available');
  await story.onPhone(first, 'approve_late');
  assert.deepEqual(await statuses(id, first, second), ['successful', 'failed', 'completed']);
  assert.equal((await story.transaction(first))['review'], 'second_success');
  assert.deepEqual(await story.movements(first), ['suspense float:gsma-test → suspense 45050']);
  assert.deepEqual(await story.cases(first), ['second_success']);
  assert.equal(await story.balance('payable_available'), merchantHas);
  await story.onPhone(first, 'reverse');
  assert.deepEqual((await story.cases(first)).toSorted(), ['network_reversal', 'second_success']);
});

test('a late success of the first attempt pays the intent and cancels the second at its network', async () => {
  const id = await story.paySettled(tapNumber, { network: 'aps' });
  const first = await chargeId(id);
  await story.onPhone(first, 'decline');
  const second = await tryAgain(id, 'wave', tapNumber);
  assert.equal(await story.networkStatus(second), 'open');
  await story.onPhone(first, 'approve_late');
  assert.deepEqual(await statuses(id, first, second), ['successful', 'completed', 'cancelled']);
  assert.equal(await story.networkStatus(second), 'cancelled', 'nobody can pay there any more');
  assert.equal((await story.intent(id))['late'], false);
});

test('a payment cancelled during the prompt is cancelled at the network', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  const charge = await chargeId(id);
  const cancelled = await story.api.post(`/v1/payments/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body['status']], [200, 'cancelled']);
  await story.settle();
  assert.deepEqual(await statuses(id, charge), ['cancelled', 'cancelled']);
  assert.equal(await story.networkStatus(charge), 'cancelled');
  assert.deepEqual(await story.events(id), ['payment_intent.created', 'payment_intent.cancelled']);
  assert.deepEqual(await story.events(charge), ['charge.created']);
});

test('a payment cancelled by the payer on the page is cancelled at the network', async () => {
  const id = await story.paySettled(tapNumber, { network: 'wave' });
  assert.equal(await story.postForm(id, '/cancel'), 303);
  await story.settle();
  assert.deepEqual(await statuses(id, await chargeId(id)), ['cancelled', 'cancelled']);
});

test('a payment cancelled where the network cannot cancel ends with its prompt, or is paid late', async () => {
  const [left, approved] = [await story.paySettled(tapNumber), await story.paySettled(tapNumber)];
  for (const id of [left, approved]) {
    assert.equal((await story.api.post(`/v1/payments/${id}/cancel`)).body['status'], 'cancelled');
  }
  await story.settle();
  const charges = [await chargeId(left), await chargeId(approved)] as const;
  assert.deepEqual(await statuses(left, ...charges), ['cancelled', 'pending', 'pending']);
  await story.onPhone(charges[1], 'approve');
  assert.equal((await story.intent(approved))['late'], true);
  await story.advance(30 * 60 * secondMs);
  assert.deepEqual(await statuses(left, ...charges), ['cancelled', 'failed', 'completed']);
});

test('a payment cancelled after an unreported approval is booked, successful and late', async () => {
  await story.dropCallbacks();
  const id = await story.paySettled(tapNumber);
  const charge = await chargeId(id);
  await story.onPhone(charge, 'approve');
  await story.api.post(`/v1/payments/${id}/cancel`);
  await story.settle();
  await story.restoreCallbacks();
  assert.deepEqual(await statuses(id, charge), ['successful', 'completed']);
  assert.equal((await story.intent(id))['late'], true);
  assert.deepEqual(await story.movements(charge), ['collected float:gsma-test → payable_available 45050']);
});

test('a payment cancelled before the network responded is found paid, and late', async () => {
  const id = await story.pay('7000005');
  await story.advancePastTimeout(id, 3 * secondMs);
  const cancelled = await story.api.post(`/v1/payments/${id}/cancel`);
  assert.equal(cancelled.status, 200, cancelled.text);
  await story.settle();
  assert.equal((await story.transaction(id))['status'], 'pending', 'the network says that it does not know it');
  await story.advance(2 * secondMs);
  const intent = await story.intent(id);
  assert.deepEqual([intent['status'], intent['late']], ['successful', true]);
});

test('an approval is confirmed on the page, or by the network itself without the page', async () => {
  const confirmed = await story.paySettled(tapNumber, { network: 'afrimoney' });
  assert.deepEqual((await story.intent(confirmed))['next_action'], { type: 'approve_then_confirm' });
  await story.onPhone(confirmed, 'approve');
  assert.equal((await story.transaction(confirmed))['status'], 'pending');
  assert.equal(await story.postForm(confirmed, '/confirm'), 303);
  await story.settle();
  assert.equal((await story.transaction(confirmed))['status'], 'completed');

  const forgotten = await story.paySettled(tapNumber, { network: 'afrimoney' });
  await story.onPhone(forgotten, 'approve');
  await story.advance(30 * secondMs);
  assert.equal((await story.transaction(forgotten))['status'], 'completed');
});

test('a payment by Wave link needs no number, whoever opens the link', async () => {
  const created = await story.api.post('/v1/payments', { data: { amount: 10, network: 'wave' } });
  assert.equal(created.status, 201, created.text);
  const id = String(created.body['payment_intent_id']);
  await story.settle();
  const action = (await story.intent(id))['next_action'] as { type: string; url: string };
  assert.equal(action.type, 'open_url');
  await story.onPhone(id, 'approve');
  const charge = await story.transaction(id);
  assert.deepEqual([charge['status'], charge['payment_account']], ['completed', '']);
});
