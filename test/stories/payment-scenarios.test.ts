import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';

// The table in docs/testing-with-the-simulator.md, "Collecting", row by row, through the API.

let story: PaymentStory;

before(async () => {
  story = await startPaymentStory();
});

afterEach(() => story.verify());

after(() => story.stop());

const secondMs = 1_000;
const booked = 'collected float:gsma-test → payable_available 45050';

/** The statuses of the intent and its newest charge, and where the money is. */
async function outcomeOf(id: string) {
  const intent = await story.intent(id);
  const charge = await story.transaction(id);
  const chargeId = String(charge['id']);
  return {
    intent: intent['status'],
    charge: charge['status'],
    late: [intent['late'], charge['late']],
    review: [intent['review'], charge['review']],
    failure: charge['failure_code'],
    events: [await story.events(id), await story.events(chargeId)],
    movements: await story.movements(chargeId),
    cases: await story.cases(chargeId),
  };
}

const nothingSpecial = { late: [false, false], review: [null, null], failure: null, cases: [] };

test('0001: approved at once, with a whole charge record', async () => {
  const before = await story.balance('payable_available');
  const id = await story.paySettled('7000001', { metadata: { order: '1042' }, customer_name: 'Awa' });
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'completed',
    events: [['payment_intent.created'], ['charge.created', 'charge.succeeded']],
    movements: [booked],
  });
  assert.equal((await story.balance('payable_available')) - before, 45_050n);
  const charge = await story.transaction(id);
  const { merchant } = story.merchant;
  assert.deepEqual(await story.transaction(String(charge['id'])), charge, 'by its own id and by the intent’s');
  const { id: chargeId, reference, transaction_reference: shown, payment_method_id: methodId, ...rest } = charge;
  assert.equal(typeof chargeId, 'string');
  assert.match(String(reference), new RegExp(`^${merchant.shortId}[0-9A-Za-z]{22}$`));
  assert.match(String(shown), /^TX-20261120-\d{6}-[2-9A-Z]{8}$/);
  assert.match(String(methodId), /^[0-9a-f-]{36}$/);
  const {
    network_reference: networkReference,
    network_transaction_id: networkId,
    createdAt,
    updatedAt,
    ...fields
  } = rest;
  assert.ok(networkReference === networkId && String(networkId).startsWith('T'));
  const now = story.clock.now().toISOString();
  assert.deepEqual([createdAt, updatedAt], [now, now]);
  assert.deepEqual(fields, {
    type: 'payment',
    status: 'completed',
    payment_intent_id: id,
    attempt: 1,
    account_id: merchant.id,
    business_id: merchant.businessId,
    test_mode: true,
    amount: 450.5,
    amount_paid: 450.5,
    amount_refunded: 0,
    currency: 'GMD',
    transaction_fee: 0,
    transaction_fee_type: 'business',
    merchant_receives: 450.5,
    shares: [],
    source: 'online',
    payment_method: 'aps',
    payment_account: '.... 0001',
    auth_mode: 'confirm',
    auth_length: 0,
    requires_auth: false,
    customer: null,
    customer_name: 'Awa',
    customer_email: null,
    customer_phone: null,
    paid_date: now,
    failure_code: null,
    failure_reason: null,
    review: null,
    late: false,
    abandoned_at: null,
    next_action: null,
    notes: null,
    coupon: null,
    discount: null,
    sub_total: null,
    edited: false,
    maintain_original_return_url: false,
    risk_score: {},
    terminal_id: null,
    payment_link_id: null,
    custom_fields_values: {},
    metadata: { order: '1042' },
  });
});

for (const [number, failure] of [
  ['7000002', 'declined_by_payer'],
  ['7000003', 'insufficient_funds'],
  ['7000008', 'network_unavailable'],
] as const) {
  test(`${number.slice(-4)}: refused at once (${failure}), and the payer may try again`, async () => {
    const id = await story.paySettled(number);
    assert.deepEqual(await outcomeOf(id), {
      ...nothingSpecial,
      intent: 'requires_payment_method',
      charge: 'failed',
      failure,
      events: [['payment_intent.created'], ['charge.created', 'charge.failed']],
      movements: [],
    });
    assert.match(String((await story.transaction(id))['failure_reason']), /\w.*\.$/);
  });
}

test('0004: the payer never responds, and the payment expires on time', async () => {
  const id = await story.paySettled('7000004');
  const waiting = await story.intent(id);
  assert.deepEqual([waiting['status'], waiting['next_action']], ['processing', { type: 'approve_on_phone' }]);
  assert.equal((await story.transaction(id))['requires_auth'], true);
  await story.advance(29 * 60 * secondMs);
  assert.equal((await story.intent(id))['status'], 'processing');
  await story.clock.jump(60 * secondMs);
  assert.equal((await story.intent(id))['status'], 'expired', 'true at the moment, before anything ran');
  await story.advance(60 * secondMs);
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'expired',
    charge: 'failed',
    failure: 'expired',
    events: [
      ['payment_intent.created', 'payment_intent.expired'],
      ['charge.created', 'charge.failed'],
    ],
    movements: [],
  });
});

test('0005: no response is no failure, and the payment is found successful 5 s later', async () => {
  const id = await story.pay('7000005');
  await story.advancePastTimeout(id, 3 * secondMs);
  const unsure = await story.intent(id);
  assert.deepEqual([unsure['status'], unsure['next_action']], ['processing', null]);
  await story.advance(2 * secondMs);
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'completed',
    events: [['payment_intent.created'], ['charge.created', 'charge.succeeded']],
    movements: [booked],
  });
  const timeline = await story.timeline(id);
  assert.deepEqual(
    timeline.filter((kind) => kind === 'sent_to_network'),
    ['sent_to_network'],
    'it was sent once',
  );
  assert.ok(timeline.includes('no_clear_answer'));
  const { text } = await story.api.get(`/v1/payments/${id}/timeline`);
  for (const sentence of ['An attempt with APS started.', 'APS returned no final response.', 'Paid with APS.']) {
    assert.ok(text.includes(sentence), `${sentence} in ${text}`);
  }
  assert.doesNotMatch(text, /3000 ms|with aps/, 'in the merchant’s words, not in ours');
});

test('0006: no response, and the payment is found failed 5 s later', async () => {
  const id = await story.pay('7000006');
  await story.advancePastTimeout(id, 3 * secondMs);
  assert.equal((await story.intent(id))['status'], 'processing');
  await story.advance(2 * secondMs);
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'requires_payment_method',
    charge: 'failed',
    failure: 'refused_by_network',
    events: [['payment_intent.created'], ['charge.created', 'charge.failed']],
    movements: [],
  });
});

test('0007: success reported three times and out of order is one payment', async () => {
  const id = await story.paySettled('7000007');
  assert.equal((await story.intent(id))['status'], 'processing');
  await story.advance(secondMs);
  for (let report = 0; report < 4; report += 1) await story.advance(200);
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'completed',
    events: [['payment_intent.created'], ['charge.created', 'charge.succeeded']],
    movements: [booked],
  });
});

test('0009: the network requires a code; a wrong one can be retried, the right one pays', async () => {
  const id = await story.paySettled('7000009', { network: 'qmoney' });
  assert.deepEqual((await story.intent(id))['next_action'], { type: 'enter_code', length: 6 });
  const awaitingCode = await story.transaction(id);
  assert.deepEqual(
    [awaitingCode['auth_mode'], awaitingCode['auth_length'], awaitingCode['requires_auth']],
    ['pin', 6, true],
  );
  assert.equal(await story.postForm(id, '/code', { code: '654321' }), 400);
  assert.equal((await story.intent(id))['status'], 'processing');
  assert.equal(await story.postForm(id, '/code', { code: '123456' }), 303);
  await story.settle();
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'completed',
    events: [['payment_intent.created'], ['charge.created', 'charge.succeeded']],
    movements: [booked.replace('gsma', '54pay')],
  });
  assert.ok(story.service.logLines.every((line) => !line.includes('123456') && !line.includes('654321')));
});

test('0009: a network without a way to pass a code asks for it on the phone, with three tries', async () => {
  const paid = await story.paySettled('7000009');
  assert.deepEqual((await story.intent(paid))['next_action'], { type: 'approve_on_phone' });
  await story.onPhone(paid, 'approve', '654321');
  assert.equal((await story.intent(paid))['status'], 'processing');
  await story.onPhone(paid, 'approve', '123456');
  assert.equal((await story.intent(paid))['status'], 'successful');
  const refused = await story.paySettled('7000009');
  for (const code of ['', '000002', '000003']) await story.onPhone(refused, 'approve', code);
  const { intent, failure, movements } = await outcomeOf(refused);
  assert.deepEqual([intent, failure, movements], ['requires_payment_method', 'code_wrong', []]);
});

test('0009: the third wrong code fails the attempt', async () => {
  const id = await story.paySettled('7000009', { network: 'qmoney' });
  for (const code of ['000001', '000002']) assert.equal(await story.postForm(id, '/code', { code }), 400);
  assert.equal(await story.postForm(id, '/code', { code: '000003' }), 303);
  await story.settle();
  const { intent, charge, failure, movements } = await outcomeOf(id);
  assert.deepEqual([intent, charge, failure, movements], ['requires_payment_method', 'failed', 'code_wrong', []]);
});

test('0010: a mismatched amount goes to suspense, and the payment does not expire during its review', async () => {
  const suspense = await story.balance('suspense');
  const id = await story.paySettled('7000010');
  const expected = {
    ...nothingSpecial,
    intent: 'processing',
    charge: 'pending',
    review: ['amount_mismatch', 'amount_mismatch'],
    events: [['payment_intent.created'], ['charge.created']],
    movements: ['suspense float:gsma-test → suspense 45150'],
    cases: ['amount_mismatch'],
  };
  assert.deepEqual(await outcomeOf(id), expected);
  assert.equal((await story.balance('suspense')) - suspense, 45_150n);
  const { amount, amount_paid: paid } = await story.transaction(id);
  assert.deepEqual([amount, paid], [450.5, 451.5], 'the record says what came');
  const page = await fetch(String((await story.intent(id))['payment_link']));
  const text = (await page.text()).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(text, /Asked for D450.50 Arrived D451.50/, 'and so does the page');
  await story.advance(60 * 60 * secondMs);
  assert.deepEqual(await outcomeOf(id), expected);
  const cancelled = await story.api.post(`/v1/payments/${id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body['code']], [409, 'state_conflict']);
});

test('0011: success after the expiry is booked, successful and late', async () => {
  const id = await story.paySettled('7000011');
  await story.advance(30 * 60 * secondMs);
  assert.equal((await story.intent(id))['status'], 'expired');
  await story.advance(2 * secondMs);
  const { events, ...outcome } = await outcomeOf(id);
  assert.deepEqual(outcome, {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'completed',
    late: [true, true],
    movements: [booked],
  });
  const [intentEvents, chargeEvents = []] = events;
  assert.deepEqual(intentEvents, ['payment_intent.created', 'payment_intent.expired']);
  assert.equal(chargeEvents.at(-1), 'charge.succeeded');
});

test('0012: a reversal two seconds later is charged to the merchant’s balance, with a case', async () => {
  const before = await story.balance('payable_available');
  const id = await story.paySettled('7000012');
  assert.equal((await story.transaction(id))['status'], 'completed');
  assert.equal((await story.balance('payable_available')) - before, 45_050n);
  await story.advance(2 * secondMs);
  assert.deepEqual(await outcomeOf(id), {
    ...nothingSpecial,
    intent: 'successful',
    charge: 'reversed',
    events: [['payment_intent.created'], ['charge.created', 'charge.succeeded', 'charge.reversed']],
    movements: [booked, 'reversed payable_available → float:gsma-test 45050'],
    cases: ['network_reversal'],
  });
  assert.equal(await story.balance('payable_available'), before);
});

test('54Pay: a lost webhook, another amount, a late success and a reversal end as on the other wires', async () => {
  const network = 'afrimoney';
  const collected = booked.replace('gsma', '54pay');
  await story.dropCallbacks();
  const silent = await story.paySettled('7001234', { network });
  await story.onPhone(silent, 'approve');
  for (let look = 0; look < 8; look += 1) await story.advance(10 * secondMs);
  assert.deepEqual((await outcomeOf(silent)).movements, [collected], 'a look-up has found it');
  await story.restoreCallbacks();
  const other = await outcomeOf(await story.paySettled('7000010', { network }));
  assert.deepEqual([other.charge, other.movements], ['pending', ['suspense float:54pay-test → suspense 45150']]);
  const reversed = await story.paySettled('7000012', { network });
  await story.advance(2 * secondMs);
  const back = await outcomeOf(reversed);
  assert.deepEqual([back.charge, back.cases], ['reversed', ['network_reversal']]);
  const late = await story.paySettled('7000011', { network });
  await story.advance(30 * 60 * secondMs);
  await story.advance(2 * secondMs);
  assert.deepEqual([(await outcomeOf(late)).late, (await outcomeOf(late)).movements], [[true, true], [collected]]);
});

test('the test numbers behave the same on every network', async () => {
  for (const network of ['wave', 'afrimoney', 'qmoney'] as const) {
    const paid = await story.paySettled('7000001', { network });
    assert.equal((await story.transaction(paid))['status'], 'completed', network);
    const refused = await story.paySettled('7000002', { network });
    assert.equal((await story.transaction(refused))['failure_code'], 'declined_by_payer', network);
  }
});
