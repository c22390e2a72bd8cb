import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { eventually } from '../harness/eventually.ts';
import { PaymentStory } from '../harness/payment-story.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// The tables of docs/testing-with-the-simulator.md on Wave, whose wire differs most from what they say: it has no code, no report of
// a reversal, and no webhook of a payout.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});

afterEach(() => story.verify());

after(() => story.stop());

const wave = { network: 'wave' };
const collected = 'collected float:wave-test → payable_available 45050';

async function payment(id: string) {
  const { id: chargeId, status: charge, failure_code: failure, review, late } = await story.transaction(id);
  const { status: intent } = await story.intent(id);
  return { intent, charge, failure, review, late, movements: await story.movements(String(chargeId)) };
}

const paid = {
  intent: 'successful',
  charge: 'completed',
  failure: null,
  review: null,
  late: false,
  movements: [collected],
};

async function eventsOf(id: string): Promise<string[]> {
  return story.events(String((await story.transaction(id))['id']));
}

test('0001 and 0007: paid at once, and paid once however often and in whatever order Wave says so', async () => {
  assert.deepEqual(await payment(await story.paySettled('7000001', wave)), paid);
  const id = await story.paySettled('7000007', wave);
  assert.equal((await story.intent(id))['status'], 'processing');
  await story.advance(secondMs);
  for (let report = 0; report < 4; report += 1) await story.advance(200);
  assert.deepEqual(await payment(id), paid);
  assert.deepEqual(await eventsOf(id), ['charge.created', 'charge.succeeded']);
});

for (const [number, failure] of [
  ['7000002', 'declined_by_payer'],
  ['7000003', 'insufficient_funds'],
  ['7000008', 'network_unavailable'],
] as const) {
  test(`${number.slice(-4)}: refused at once (${failure}), and the payer may try again`, async () => {
    const { intent, charge, failure: code, movements } = await payment(await story.paySettled(number, wave));
    assert.deepEqual([intent, charge, code, movements], ['requires_payment_method', 'failed', failure, []]);
  });
}

test('0004: the payer never responds; the payment expires on time, and so does its session', async () => {
  const { body } = await story.api.post('/v1/payments', { data: { amount: 450.5 } });
  const id = String(body['payment_intent_id']);
  await story.advance(minuteMs);
  assert.equal(await story.postForm(id, '', { network: 'wave', account_number: '7000004' }), 303);
  await story.settle();
  const { next_action: action } = await story.intent(id);
  assert.match((action as { url: string }).url, /\/simulator\/wave\/cos-/);
  await story.advance(28 * minuteMs);
  assert.equal((await story.intent(id))['status'], 'processing');
  await story.advance(minuteMs);
  for (let time = 0; time < 5; time += 1) await story.advance(10 * secondMs);
  const { intent, charge, failure } = await payment(id);
  assert.deepEqual([intent, charge, failure], ['expired', 'failed', 'expired']);
  assert.equal(await story.networkStatus(id), 'cancelled');
});

for (const [number, outcome] of [
  ['7000005', 'completed'],
  ['7000006', 'failed'],
] as const) {
  test(`${number.slice(-4)}: no response; the session is found ${outcome} by our reference 5 s later`, async () => {
    const id = await story.pay(number, wave);
    await PaymentStory.prototype.advancePastTimeout.call(story, id, 3 * secondMs);
    assert.equal((await story.intent(id))['status'], 'processing');
    await story.advance(2 * secondMs);
    assert.equal((await story.transaction(id))['status'], outcome);
    const sent = (await PaymentStory.prototype.timeline.call(story, id)).filter((kind) => kind === 'sent_to_network');
    assert.deepEqual(sent, ['sent_to_network']);
  });
}

test('0009: the page behind the link asks for the code', async () => {
  const id = await story.paySettled('7000009', wave);
  const { url } = (await story.intent(id))['next_action'] as { url: string };
  const enter = async (code: string) => {
    const body = new URLSearchParams({ action: 'enter_code', code });
    const headers = { origin: story.service.url };
    await (await fetch(url, { method: 'POST', body, headers, redirect: 'manual' })).arrayBuffer();
    await story.settle();
  };
  await enter('654321');
  assert.equal((await story.intent(id))['status'], 'processing');
  await enter('123456');
  assert.deepEqual(await payment(id), paid);
});

test('0010: another amount is held for review', async () => {
  const { intent, charge, review, movements } = await payment(await story.paySettled('7000010', wave));
  assert.deepEqual([intent, charge, review], ['processing', 'pending', 'amount_mismatch']);
  assert.deepEqual(movements, ['suspense float:wave-test → suspense 45150']);
});

test('0011: paid two seconds after the payment has expired, though its session was expired too', async () => {
  const id = await story.paySettled('7000011', wave);
  await story.advance(30 * minuteMs);
  assert.equal((await story.intent(id))['status'], 'expired');
  await story.advance(2 * secondMs);
  assert.deepEqual(await payment(id), { ...paid, late: true });
});

test('0012, and a tap on the phone: a reversal is found on Wave’s statement, and booked once', async () => {
  const reversed = {
    ...paid,
    charge: 'reversed',
    movements: [collected, 'reversed payable_available → float:wave-test 45050'],
  };
  const id = await story.paySettled('7000012', wave);
  assert.deepEqual(await payment(id), paid);
  await story.advance(2 * secondMs);
  assert.deepEqual(await payment(id), reversed);
  assert.deepEqual(await eventsOf(id), ['charge.created', 'charge.succeeded', 'charge.reversed']);
  const tapped = await story.paySettled('7001234', wave);
  await story.onPhone(tapped, 'approve');
  await story.advance(25 * 60 * minuteMs);
  await story.onPhone(tapped, 'reverse');
  await story.settle();
  assert.deepEqual(await payment(tapped), reversed);
});

test('a cancelled payment’s session is expired, and a late success is booked as late', async () => {
  const id = await story.paySettled('7001234', wave);
  assert.equal((await story.api.post(`/v1/payments/${id}/cancel`)).status, 200);
  await story.settle();
  const { charge, failure } = await payment(id);
  assert.deepEqual([charge, failure, await story.networkStatus(id)], ['cancelled', 'cancelled', 'cancelled']);
  await story.onPhone(id, 'approve_late');
  await story.settle();
  assert.deepEqual(await payment(id), { ...paid, late: true });
});

const held = 'held payable_available → held 10000';
const paidOut = [held, 'transfer held → float:wave-test 10000'];

async function payout(id: string) {
  const { status, failure_code: failure, waiting_for: waitingFor } = await story.retrieve(id);
  return {
    status,
    failure,
    waitingFor,
    movements: await story.movements(id),
    payouts: (await story.payouts(id)).length,
  };
}

const completed = { status: 'completed', failure: null, waitingFor: null, movements: paidOut, payouts: 1 };
const released = [held, 'released held → payable_available 10000'];

test('a payout is completed at once, refused at once, or found by look-ups, without any webhook', async () => {
  assert.deepEqual(await payout(await story.transferSettled('7000001', wave)), completed);
  for (const [number, failure] of [
    ['7000002', 'account_not_found'],
    ['7000003', 'account_blocked'],
  ] as const) {
    const refused = { status: 'failed', failure, waitingFor: null, movements: released, payouts: 1 };
    assert.deepEqual(await payout(await story.transferSettled(number, wave)), refused, number);
  }
  const pending = { ...completed, status: 'pending', movements: [held] };
  const soon = await Promise.all(
    ['7000007', '7000009', '7000011', '7000004'].map((one) => story.transferSettled(one, wave)),
  );
  for (const id of soon) assert.deepEqual(await payout(id), pending);
  for (let second = 0; second < 90; second += 5) await story.advance(5 * secondMs);
  const [thrice, afterTwo, afterThirty, never] = await Promise.all(soon.map(payout));
  assert.deepEqual([thrice, afterTwo, afterThirty, never], [completed, completed, completed, pending]);
});

for (const [number, status] of [
  ['7000005', 'completed'],
  ['7000006', 'failed'],
] as const) {
  test(`${number.slice(-4)}: a payout without a response is found ${status}, and was sent once`, async () => {
    const id = await story.transfer(number, wave);
    await story.advancePastTimeout(id, 3 * secondMs);
    assert.equal((await story.retrieve(id))['status'], 'pending');
    await story.advance(2 * secondMs);
    await story.advance(2 * secondMs);
    assert.equal((await story.retrieve(id))['status'], status);
    assert.equal((await story.timeline(id)).filter((kind) => kind.startsWith('sent')).length, 1);
  });
}

test('0008: what may have arrived is looked up and sent again under its key, and paid once', async () => {
  const id = await story.transferSettled('7000008', wave);
  assert.deepEqual(await payout(id), { ...completed, status: 'pending', movements: [held], payouts: 0 });
  for (let second = 0; second < 12; second += 1) await story.advance(secondMs);
  assert.deepEqual(await payout(id), completed);
});

test('0010: a payout waits while the float is empty, and is sent once it is filled', async () => {
  const id = await story.transferSettled('7000010', wave);
  const waiting = { ...completed, status: 'pending', movements: [held], waitingFor: 'float_empty', payouts: 0 };
  assert.deepEqual(await payout(id), waiting);
  const line = { account: story.merchant.merchant.shortId, network: 'wave', number: '7000010' };
  await story.phone.payouts.setFloat(line, 'filled');
  for (let minute = 0; minute < 11; minute += 1) await story.advance(minuteMs);
  assert.deepEqual(await payout(id), completed);
});

test('0012: a payout that Wave reverses is found when it is looked at again', async () => {
  const id = await story.transferSettled('7000012', wave);
  assert.deepEqual(await payout(id), completed);
  await story.advance(2 * secondMs);
  const movements = [...paidOut, 'transfer_reversed float:wave-test → payable_available 10000'];
  await eventually('the reversal is booked', async () => {
    await story.settle();
    return (await payout(id)).status === 'reversed';
  });
  assert.deepEqual(await payout(id), { ...completed, status: 'reversed', movements });
});

test('0012: a refund that comes back from Wave has failed, as its statement shows', async () => {
  const id = await story.paySettled('7001234', wave);
  await story.onPhone(id, 'approve');
  const charge = await story.transaction(id);
  const text = "UPDATE simulator.sessions SET payer_number = '+220877000012' WHERE reference = $1";
  await story.service.db.run({ name: 'test_number', text, values: [charge['reference']] });
  const { body } = await story.api.post('/v1/transactions/refund', { reference: charge['reference'] });
  const retrieve = async () => (await story.api.get(`/v1/refunds/${String(body['id'])}`)).body;
  await story.settle();
  assert.equal((await retrieve())['status'], 'completed');
  await story.advance(2 * secondMs);
  const returned = await retrieve();
  assert.deepEqual([returned['status'], returned['failure_code']], ['failed', 'returned_by_network']);
});
