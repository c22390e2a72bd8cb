import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { startCallbackReceiver, type CallbackReceiver, type ReceivedCallback } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

const minuteMs = 60_000;

let world: TransferStory;
/** A merchant for one test, with an endpoint that gets the default events. */
let story: TransferStory;
let receiver: CallbackReceiver;

before(async () => {
  world = await startTransferStory();
  receiver = await startCallbackReceiver();
});
beforeEach(async () => {
  story = await world.forAnotherMerchant();
  receiver.received.length = 0;
});
after(async () => {
  await world.stop();
  await receiver.close();
});

interface ReceivedEvent {
  id: string;
  event: string;
  sequence: number;
  test_mode: boolean;
  data: Record<string, unknown>;
  payload: Record<string, unknown>;
}

function eventsAt(path: string): ReceivedEvent[] {
  return receiver.received
    .filter((one) => one.path === path)
    .map(({ body }) => JSON.parse(body.toString()) as ReceivedEvent);
}

function kindsAt(path: string): string[] {
  return eventsAt(path)
    .toSorted((one, other) => one.sequence - other.sequence)
    .map(({ event }) => event);
}

/** A transfer of each final status: completed, failed, reversed, cancelled. */
async function transferToEachEnd(changes: Record<string, unknown> = {}): Promise<void> {
  await story.transferSettled('7000001', changes);
  await story.transferSettled('7000002', changes);
  await story.transferSettled('7000012', changes);
  const waitingId = await story.transferSettled('7000010', changes);
  assert.equal((await story.api.post(`/v1/transfers/${waitingId}/cancel`)).status, 200);
  await story.advance(2_000);
  await story.settle();
}

function assertSigned({ headers, body }: ReceivedCallback): void {
  const expected = createHmac('sha512', story.merchant.webhookSecret).update(body).digest('hex');
  assert.equal(headers['x-service-signature'], expected);
}

test('an endpoint gets completed transfers by default, and no other transfer event', async () => {
  await story.subscribe(receiver, null);
  await transferToEachEnd();
  await eventually('both have come', () => receiver.received.length >= 2);
  await story.settle();
  assert.deepEqual(kindsAt('/events'), ['transfer.succeeded', 'transfer.succeeded']);
  for (const callback of receiver.received) assertSigned(callback);
});

test('an endpoint gets the transfer events it subscribed to', async () => {
  const kinds = ['transfer.created', 'transfer.failed', 'transfer.cancelled', 'transfer.reversed'];
  for (const kind of kinds) {
    story = await world.forAnotherMerchant();
    receiver.received.length = 0;
    await story.subscribe(receiver, [kind]);
    await transferToEachEnd();
    const count = kind === 'transfer.created' ? 4 : 1;
    await eventually(`${kind} has come`, () => receiver.received.length >= count);
    await story.settle();
    assert.deepEqual(
      kindsAt('/events'),
      Array.from({ length: count }, () => kind),
    );
  }
});

test('a transfer’s callback_url gets all of its events, signed, and those of no other transfer', async () => {
  const url = `${receiver.url}/of-this-transfer`;
  const id = await story.transferSettled('7000012', { callback_url: url });
  await story.transferSettled('7000001');
  await story.advance(2_000);
  await eventually('three have come', () => receiver.received.length >= 3);
  await story.settle();
  assert.deepEqual(kindsAt('/of-this-transfer'), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
  assert.equal(receiver.received.length, 3);
  assert.ok(eventsAt('/of-this-transfer').every(({ data }) => data['id'] === id));
  for (const callback of receiver.received) assertSigned(callback);
});

test('a callback_url that is the endpoint’s own address gets each event once', async () => {
  await story.subscribe(receiver, null);
  await story.transferSettled('7000001', { callback_url: `${receiver.url}/events` });
  await eventually('both have come', () => receiver.received.length >= 2);
  await story.settle();
  assert.deepEqual(kindsAt('/events'), ['transfer.created', 'transfer.succeeded']);
});

test('an event has the transfer as it was then, with only the last four digits of the number', async () => {
  await story.subscribe(receiver, ['transfer.created', 'transfer.succeeded']);
  const id = await story.transferSettled('+220 700 0001', { metadata: { payroll: 'May' }, narration: 'Wages' });
  await eventually('both have come', () => receiver.received.length >= 2);
  const [created, succeeded] = eventsAt('/events').toSorted((one, other) => one.sequence - other.sequence);
  assert.ok(created && succeeded);
  for (const { data, payload, test_mode: isTest } of [created, succeeded]) {
    assert.deepEqual([payload, isTest], [data, true]);
  }
  assert.deepEqual([created.sequence, created.data['status']], [1, 'pending']);
  const record = await story.retrieve(id);
  assert.deepEqual([succeeded.sequence, succeeded.data], [2, { ...record, account_number: '.... 0001' }]);
  assert.ok(receiver.received.every(({ body }) => !body.toString().includes('700 0001')));
});

test('another merchant’s endpoint gets none of a transfer’s events', async () => {
  const other = await world.forAnotherMerchant();
  await other.subscribe(receiver, null);
  await story.transferSettled('7000001');
  await other.transferSettled('7000002');
  await story.settle();
  assert.deepEqual(receiver.received, []);
});

test('/metrics shows a payment and a transfer that are under way while nothing works on them', async () => {
  const count = () =>
    Promise.all(
      ['payment', 'transfer'].map((record) =>
        story.gauge(`dalasi_unfinished_without_work{record="${record}",environment="test"}`),
      ),
    );
  await story.paySettled('7001234', { amount: 300 });
  await story.transfer('7000004');
  await story.settle();
  await story.clock.jump(2 * minuteMs);
  const [payments = 0, transfers = 0] = await count();
  // The look-ups that the jump made due have ended: one under way would be due again after the deletion.
  await story.settle();
  const { id } = story.merchant.merchant;
  await story.service.database.asOwner('DELETE FROM outbox WHERE merchant_id = $1', [id]);
  await story.clock.jump(2 * minuteMs);
  assert.deepEqual(await count(), [payments + 1, transfers + 1]);
});
