import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import { eventually } from '../harness/eventually.ts';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';
import { startService, type TestService } from '../harness/service.ts';
import { asOwner } from '../harness/tables.ts';

// Two processes of the service on one database, as an operator runs them.

let story: PaymentStory;
let other: TestService;

before(async () => {
  story = await startPaymentStory();
  other = await startService({ clock: story.clock, database: story.service.database });
});

afterEach(() => story.verify());

after(async () => {
  await other.stop();
  await story.stop();
});

async function drainBoth(): Promise<void> {
  await Promise.all([story.settle(), other.app.drain()]);
  await Promise.all([story.settle(), other.app.drain()]);
}

test('concurrent payments at two processes are each sent, emitted and booked once', async () => {
  const there = createApiClient(other.url, story.merchant.key);
  const before = await story.balance('payable_available');
  const count = 24;
  const ids = await Promise.all(
    Array.from({ length: count }, (_, index) => story.pay('7000001', {}, index % 2 === 0 ? story.api : there)),
  );
  await drainBoth();
  for (const id of ids) {
    const charge = await story.transaction(id);
    assert.equal(charge['status'], 'completed');
    assert.deepEqual(await story.events(String(charge['id'])), ['charge.created', 'charge.succeeded']);
    const timeline = await story.timeline(id);
    assert.deepEqual(
      timeline.filter((kind) => kind === 'sent_to_network'),
      ['sent_to_network'],
    );
  }
  assert.equal((await story.balance('payable_available')) - before, BigInt(count) * 45_050n);
  const leftovers = await asOwner(story.service, `SELECT kind FROM outbox WHERE queue LIKE 'network%'`);
  assert.deepEqual(leftovers, []);
});

test('a change made by one process is visible at the other at once', async () => {
  const there = createApiClient(other.url, story.merchant.key);
  const id = await story.paySettled('7001234');
  const intent = await there.get(`/v1/payments/${id}`);
  assert.deepEqual([intent.status, intent.body['status']], [200, 'processing']);
  const cancelled = await there.post(`/v1/payments/${id}/cancel`);
  assert.equal(cancelled.status, 200, cancelled.text);
  assert.equal((await story.intent(id))['status'], 'cancelled');
});

test('of a concurrent cancellation and success at two processes one is first, and the money is booked', async () => {
  const there = createApiClient(other.url, story.merchant.key);
  for (let round = 0; round < 8; round += 1) {
    const id = await story.paySettled('7001234');
    const [cancelled] = await Promise.all([
      there.post(`/v1/payments/${id}/cancel`),
      story.report(id, { status: 'complete' }),
    ]);
    await drainBoth();
    const intent = await story.intent(id);
    assert.equal(intent['status'], 'successful');
    assert.equal(intent['late'], cancelled.status === 200, 'late if the cancellation was first');
    const charge = await story.transaction(id);
    assert.deepEqual(await story.movements(String(charge['id'])), [
      'collected float:gsma-test → payable_available 45050',
    ]);
  }
});

test('work of a process that stops is finished by the other', async () => {
  const third = await startService({ clock: story.clock, database: story.service.database });
  const there = createApiClient(third.url, story.merchant.key);
  const created = await Promise.allSettled(Array.from({ length: 6 }, () => story.pay('7000001', {}, there)));
  await third.stop();
  const ids = created.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  assert.equal(ids.length, 6);
  // Its claims are due again when their leases end; a call that it had sent is looked up.
  await eventually('all of them are paid', async () => {
    // The move of the clock must not time out the other's work in progress.
    await drainBoth();
    await story.clock.jump(61_000);
    await drainBoth();
    const charges = await Promise.all(ids.map((id) => story.transaction(id)));
    return charges.every(({ status }) => status === 'completed');
  });
  for (const id of ids) {
    const timeline = await story.timeline(id);
    assert.deepEqual(
      timeline.filter((kind) => kind === 'sent_to_network'),
      ['sent_to_network'],
    );
  }
});

test('more concurrent payments than a process has connections are all accepted', async () => {
  for (let round = 0; round < 2; round += 1) {
    // A merchant is cached for three seconds.
    await story.clock.jump(4_000);
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => story.api.post('/v1/payments', { data: { amount: 1 } })),
    );
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
  }
});
