import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { eventKinds } from '../../server/src/events/kinds.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

type Body = Record<string, unknown>;

const hourMs = 3_600_000;

let story: TransferStory;
let receiver: CallbackReceiver;

before(async () => {
  story = await startTransferStory();
  receiver = await startCallbackReceiver();
});
after(async () => {
  await story.stop();
  await receiver.close();
});

async function send(method: string, path: string, body?: object): Promise<Body> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const response = await story.api.send(method, path, body ? { body: JSON.stringify(body), headers } : {});
  assert.ok(response.status < 300, response.text);
  return response.body;
}

async function makePaymentsHappen(): Promise<void> {
  const paid = await story.paySettled('7000001');
  const charge = await story.transaction(paid);
  await send('POST', '/v1/transactions/refund', { reference: charge['reference'], amount: 1 });
  await story.paySettled('7000002');
  await story.paySettled('7000012');
  await story.paySettled('7000004');
  const cancelled = await send('POST', '/v1/payments', { data: { amount: 10, metadata: { note: 'Ŋ 🙂', deep: [1] } } });
  await send('POST', `/v1/payments/${String(cancelled['payment_intent_id'])}/cancel`);
  await story.settle();
}

async function makeTransfersHappen(): Promise<void> {
  for (const number of ['7000001', '7000002', '7000012']) await story.transferSettled(number);
  await send('POST', `/v1/transfers/${await story.transferSettled('7000010')}/cancel`);
  for (const [name, number] of [
    ['Awa', '7000001'],
    ['Lamin', '7000002'],
  ]) {
    const body = { name, percentage: 20, settlement_code: 'aps', account_number: number };
    const { id } = await send('POST', '/v1/sub-accounts', body);
    await story.paySettled('7000001', { amount: 100, sub_account: id });
    await send('POST', `/v1/sub-accounts/${String(id)}/payouts`, { amount: 10 });
    await story.settle();
  }
}

async function makeCustomersHappen(): Promise<void> {
  const { id } = await send('POST', '/v1/customers', { name: 'Awa Ceesay', phone: '7012345' });
  await send('PUT', `/v1/customers/${String(id)}`, { email: 'awa@shop.example' });
  await send('DELETE', `/v1/customers/${String(id)}`);
}

/** One endpoint fails for more than a day, another one responds with 410. */
async function makeEndpointsFail(): Promise<void> {
  const body = { url: `${receiver.url}/events` };
  const [failing, gone] = [
    await send('POST', '/v1/webhook-endpoints', body),
    await send('POST', '/v1/webhook-endpoints', body),
  ].map(({ id }) => `/v1/webhook-endpoints/${String(id)}`);
  receiver.respondWith(410);
  await send('POST', `${String(gone)}/test`);
  await story.settle();
  receiver.respondWith(500);
  await send('POST', `${String(failing)}/test`);
  for (let hours = 0; hours < 36; hours += 4) await story.advance(4 * hourMs);
}

async function everyEvent(): Promise<Body[]> {
  const events: Body[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await story.api.get(`/v1/events?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    events.push(...(body['data'] as Body[]));
    cursor = (body['meta'] as { next_cursor: string | null }).next_cursor;
  }
  return events.toReversed();
}

test('every kind of event matches the reference, and sequences count up without a gap', async () => {
  await makePaymentsHappen();
  await makeTransfersHappen();
  await makeCustomersHappen();
  await makeEndpointsFail();
  const events = await everyEvent();
  assert.deepEqual([...new Set(events.map(({ event }) => String(event)))].toSorted(), eventKinds.toSorted());
  const last = new Map<unknown, number>();
  for (const { object_id: objectId, deliveries: _deliveries, ...event } of events) {
    const kind = String(event['event']);
    assert.equal(story.contract.eventProblem({ ...event, event: kind }), null, JSON.stringify(event));
    assert.deepEqual(event['data'], event['payload']);
    assert.deepEqual([event['test_mode'], (event['data'] as Body)['id']], [true, objectId]);
    const sequence = (last.get(objectId) ?? 0) + 1;
    assert.equal(event['sequence'], sequence, `${kind} of ${String(objectId)}`);
    last.set(objectId, sequence);
    assert.ok(!JSON.stringify(event).includes('secret'), kind);
  }
});
