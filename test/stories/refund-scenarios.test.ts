import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { PaymentStory } from '../harness/payment-story.ts';
import { asOwner } from '../harness/tables.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// Refunds through the API at the simulated networks: both routes, and the outcome of each payer's number
// (docs/testing-with-the-simulator.md, "Refunds"). Every payment is D450.50.

const secondMs = 1_000;
const paidMinor = 45_050n;

type Body = Record<string, unknown>;

let story: TransferStory;
let receiver: CallbackReceiver;

before(async () => {
  story = await startTransferStory();
  receiver = await startCallbackReceiver();
  await story.subscribe(receiver, ['charge.refunded']);
});

afterEach(() => story.verify());

after(async () => {
  await story.stop();
  await receiver.close();
});

/** Makes a paid payment; returns its charge. */
async function paid(network: string, number = '7000001'): Promise<Body> {
  const intentId = await story.paySettled(number, { network });
  const charge = await story.transaction(intentId);
  assert.equal(charge['status'], 'completed', JSON.stringify(charge));
  return charge;
}

/** The same for a number whose payer has to act. */
async function paidByHand(network: string, number: string, action: 'approve' | 'approve_late'): Promise<Body> {
  const intentId = await story.paySettled(number, { network });
  const { id } = await story.transaction(intentId);
  await story.onPhone(String(id), action);
  const charge = await story.transaction(intentId);
  assert.equal(charge['status'], 'completed', JSON.stringify(charge));
  return charge;
}

async function refund(charge: Body, changes: Body = {}): Promise<Body> {
  const response = await story.api.post('/v1/transactions/refund', { reference: charge['reference'], ...changes });
  assert.equal(response.status, 201, response.text);
  assert.equal(response.body['status'], 'pending');
  return response.body;
}

async function refundSettled(charge: Body, changes: Body = {}): Promise<Body> {
  const { id } = await refund(charge, changes);
  await story.settle();
  return retrieveRefund(id);
}

async function retrieveRefund(id: unknown): Promise<Body> {
  const response = await story.api.get(`/v1/refunds/${String(id)}`);
  assert.equal(response.status, 200, response.text);
  return response.body;
}

/** The refunds of a charge at the network. */
async function atNetwork({ reference }: Body): Promise<string[]> {
  const text = `SELECT CASE WHEN planned_at <= $2 THEN planned_status ELSE status END || ' ' || amount
                  || CASE WHEN refunded_transaction_id IS NULL THEN '' ELSE ' of a collection' END AS reported
                FROM simulator.payouts WHERE reference = $1
                  -- Wave knows a refund only by the payment.
                  OR network = 'wave' AND refunded_transaction_id = (SELECT original_reference FROM transfers WHERE reference = $1)`;
  const rows = await asOwner<{ reported: string }>(story.service, text, [reference, story.clock.now()]);
  return rows.map(({ reported }) => reported);
}

async function receivedRefunds(charge: Body): Promise<{ status: string; amount_refunded: number; sequence: number }[]> {
  const reported = receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as { sequence: number; data: Body })
    .filter(({ data }) => data['id'] === charge['id']);
  return reported.map(({ sequence, data }) => ({
    status: String(data['status']),
    amount_refunded: Number(data['amount_refunded']),
    sequence,
  }));
}

for (const [network, amount, route, atTheNetwork] of [
  ['wave', null, 'network', 'completed 45050 of a collection'],
  ['wave', 100, 'payout', 'completed 10000'],
  ['aps', null, 'network', 'completed 45050 of a collection'],
  ['aps', 0.01, 'network', 'completed 1 of a collection'],
  ['afrimoney', null, 'payout', 'completed 45050'],
  ['qmoney', 450.49, 'payout', 'completed 45049'],
] as const) {
  test(`${network} refunds ${amount ?? 'all'} by ${route}, and emits charge.refunded`, async () => {
    const charge = await paid(network);
    const balance = await story.payoutBalance();
    const done = await refundSettled(charge, amount === null ? {} : { amount });
    const whole = amount ?? 450.5;
    assert.deepEqual(
      [done['status'], done['route'], done['amount'], done['merchant_gives']],
      ['completed', route, whole, whole],
    );
    assert.equal(done['completed_at'], story.clock.now().toISOString());
    assert.deepEqual(await atNetwork(done), [atTheNetwork]);
    assert.equal(Math.round((balance - (await story.payoutBalance())) * 100), Math.round(whole * 100));
    const now = await story.transaction(String(charge['id']));
    const status = amount === null ? 'refunded' : 'completed';
    assert.deepEqual([now['status'], now['amount_refunded']], [status, whole]);
    await eventually('the merchant has received it', async () => {
      await story.settle();
      return (await receivedRefunds(charge)).length === 1;
    });
    assert.deepEqual(await receivedRefunds(charge), [{ status, amount_refunded: whole, sequence: 3 }]);
    const kinds = (
      (await story.api.get(`/v1/payments/${String(charge['payment_intent_id'])}/timeline`)).body['data'] as Body[]
    ).map(({ kind }) => kind);
    assert.deepEqual(kinds.slice(-3), ['refund_requested', 'refund_completed', 'charge.refunded']);
  });
}

test('partial refunds by the network are accepted until nothing is left, and never exceed the payment', async () => {
  const charge = await paid('aps');
  for (const amount of [200, 200, 50.5]) assert.equal((await refundSettled(charge, { amount }))['status'], 'completed');
  const response = await story.api.post('/v1/transactions/refund', { reference: charge['reference'] });
  assert.deepEqual([response.status, response.body['code']], [400, 'refund_not_possible']);
  assert.equal((await story.transaction(String(charge['id'])))['status'], 'refunded');
});

test('0002: a refund refused for a closed account releases the merchant’s money', async () => {
  const charge = await paidByHand('aps', '7000002', 'approve_late');
  const balance = await story.payoutBalance();
  const done = await refundSettled(charge);
  assert.deepEqual([done['status'], done['failure_code']], ['failed', 'account_not_found']);
  assert.equal(await story.payoutBalance(), balance);
  assert.equal((await story.transaction(String(charge['id'])))['amount_refunded'], 0);
  assert.deepEqual(await story.events(String(charge['id'])), ['charge.created', 'charge.failed', 'charge.succeeded']);
});

test('0004: a refund that stays pending holds its money, and the rest can be refunded', async () => {
  const charge = await paidByHand('aps', '7000004', 'approve');
  const pending = await refundSettled(charge, { amount: 400 });
  assert.deepEqual([pending['status'], await atNetwork(pending)], ['pending', ['pending 40000 of a collection']]);
  for (let hour = 0; hour < 25; hour += 1) await story.advance(3_600 * secondMs);
  assert.deepEqual(
    [(await retrieveRefund(pending['id']))['status'], (await retrieveRefund(pending['id']))['review']],
    ['pending', 'outcome_unknown'],
  );
  const response = await story.api.post('/v1/transactions/refund', { reference: charge['reference'], amount: 51 });
  assert.deepEqual([response.status, response.body['code']], [400, 'refund_not_possible']);
});

for (const [number, action, status] of [
  ['7000005', null, 'completed'],
  ['7000006', 'approve_late', 'failed'],
] as const) {
  test(`${number.slice(-4)}: a refund without a response is looked up, never resent, and found ${status}`, async () => {
    const intentId = await story.pay(number, { network: 'aps' });
    const { id } = await story.transaction(intentId);
    await PaymentStory.prototype.advancePastTimeout.call(story, String(id), 3 * secondMs);
    for (let step = 0; step < 4; step += 1) await story.advance(2 * secondMs);
    if (action !== null) await story.onPhone(String(id), action);
    const charge = await story.transaction(intentId);
    assert.equal(charge['status'], 'completed');
    const started = await refund(charge);
    await eventually('the network has got the order', async () => (await atNetwork(started)).length === 1);
    await story.clock.advance(3 * secondMs);
    await eventually('the service has given up waiting', async () => {
      const text = `SELECT 1 FROM transfer_notes WHERE transfer_id = $1 AND kind = 'no_clear_answer'`;
      return (await asOwner(story.service, text, [started['id']])).length === 1;
    });
    assert.equal((await retrieveRefund(started['id']))['status'], 'pending');
    for (let step = 0; step < 4; step += 1) await story.advance(2 * secondMs);
    assert.equal((await retrieveRefund(started['id']))['status'], status);
    const sent = `SELECT sends FROM transfers WHERE id = $1`;
    assert.deepEqual(await asOwner(story.service, sent, [started['id']]), [{ sends: '1' }]);
  });
}

test('0009: pending at first, completed by the network’s callback after 2 s', async () => {
  const charge = await paid('aps');
  // When it pays, this number requires a code; only the refund matters here.
  await asOwner(story.service, `UPDATE simulator.sessions SET payer_number = '+220877000009' WHERE reference = $1`, [
    charge['reference'],
  ]);
  const pending = await refundSettled(charge);
  assert.equal(pending['status'], 'pending');
  await story.advance(2 * secondMs);
  assert.equal((await retrieveRefund(pending['id']))['status'], 'completed');
});

for (const [network, waitingFor] of [
  ['aps', 'network_unavailable'],
  // Wave documents that a refund may have been executed when it is unavailable, so it is looked up.
  ['wave', null],
] as const) {
  test(`0008: a refund on ${network} waits while the network is down, and completes a minute later`, async () => {
    const charge = await paid(network);
    await asOwner(story.service, `UPDATE simulator.sessions SET payer_number = '+220877000008' WHERE reference = $1`, [
      charge['reference'],
    ]);
    const waiting = await refundSettled(charge);
    assert.deepEqual(
      [waiting['status'], waiting['waiting_for'], await atNetwork(waiting)],
      ['pending', waitingFor, []],
    );
    await story.advance(61 * secondMs);
    assert.equal((await retrieveRefund(waiting['id']))['status'], 'completed');
  });
}

test('0012: a refund returned by the network has failed, and the payment can be refunded again', async () => {
  const charge = await paid('aps');
  const setNumber = (number: string) =>
    asOwner(story.service, 'UPDATE simulator.sessions SET payer_number = $2 WHERE reference = $1', [
      charge['reference'],
      number,
    ]);
  await setNumber('+220877000012');
  const balance = await story.payoutBalance();
  const done = await refundSettled(charge);
  assert.equal(done['status'], 'completed');
  await story.advance(2 * secondMs);
  const returned = await retrieveRefund(done['id']);
  assert.deepEqual([returned['status'], returned['failure_code']], ['failed', 'returned_by_network']);
  const open = await story.transaction(String(charge['id']));
  assert.deepEqual([open['status'], open['amount_refunded']], ['completed', 0]);
  assert.equal(await story.payoutBalance(), balance);
  await setNumber('+220877000001');
  assert.equal((await refundSettled(charge))['status'], 'completed');
});

test('a refund is charged to the share too, as refund and sub-account show', async () => {
  const body = { name: 'Awa', percentage: 20, settlement_code: 'wave', account_number: '7000001' };
  const subAccount = await story.api.post('/v1/sub-accounts', body);
  const id = String(subAccount.body['id']);
  const intentId = await story.paySettled('7000001', { network: 'aps', amount: 100, sub_account: id });
  const charge = await story.transaction(intentId);
  assert.equal((await story.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 20);
  const done = await refundSettled(charge, { amount: 50 });
  assert.deepEqual(done['shares'], [{ sub_account: id, amount: 10, advanced: 0 }]);
  assert.deepEqual([done['merchant_gives'], done['advanced'], done['transaction_fee']], [40, 0, 0]);
  assert.equal((await story.api.get(`/v1/sub-accounts/${id}`)).body['balance'], 10);
});

test('one key returns one refund, also after its stored response is deleted', async () => {
  const charge = await paid('aps');
  const key = randomUUID();
  const send = (amount: number) =>
    story.api.post('/v1/transactions/refund', { reference: charge['reference'], amount }, { 'idempotency-key': key });
  const first = await send(100);
  assert.equal(first.status, 201, first.text);
  const again = await send(100);
  assert.deepEqual([again.status, again.text, again.headers.get('idempotent-replayed')], [201, first.text, 'true']);
  assert.equal((await send(101)).status, 422);
  await story.settle();
  for (let day = 0; day < 4; day += 1) await story.advance(24 * 3_600 * secondMs);
  const late = await send(100);
  assert.deepEqual([late.status, late.body['id'], late.body['status']], [201, first.body['id'], 'completed']);
  const { body } = await story.api.get(`/v1/refunds?charge=${String(charge['id'])}`);
  assert.equal((body['data'] as Body[]).length, 1);
});

test('concurrent requests for the remainder refund it once', async () => {
  const charge = await paid('aps');
  const requestRefund = () => story.api.post('/v1/transactions/refund', { reference: charge['reference'] });
  const responses = await Promise.all([requestRefund(), requestRefund(), requestRefund(), requestRefund()]);
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [201, 400, 400, 400]);
  await story.settle();
  assert.equal((await story.transaction(String(charge['id'])))['amount_refunded'], Number(paidMinor) / 100);
});
