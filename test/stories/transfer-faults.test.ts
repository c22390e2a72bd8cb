import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { effort } from '../harness/effort.ts';
import { proxyFaults, startFaultyProxy, type FaultyProxy, type ProxyFault } from '../harness/faulty-proxy.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// Ambiguous payouts: whatever fails on the way to the network, and whether or not it received the request, the
// beneficiary is paid at most once, held money is released only after the network's final status, and the outcome is
// right. Callbacks are lost unless a test restores them.

const secondMs = 1_000;

let proxy: FaultyProxy;
let story: TransferStory;

before(async () => {
  proxy = await startFaultyProxy();
  story = await startTransferStory({ settings: { INTERNAL_URL: proxy.url } });
  proxy.routeTo(story.service.url);
  await story.dropCallbacks();
});

afterEach(() => story.verify());

after(async () => {
  await story.stop();
  await proxy.close();
});

/** Sends a transfer while the proxy is broken, and waits until the service has noticed. */
async function transferDuring(
  fault: ProxyFault,
  options: { number: string; arrives: boolean; calls?: number },
): Promise<string> {
  const { number, arrives, calls = 1 } = options;
  await proxy.breakCalls(fault, { calls, arrives });
  const id = await story.transfer(number);
  if (fault === 'connection refused') {
    await story.settle();
    return id;
  }
  await proxy.untilBroken();
  if (fault === 'no response in time') await story.clock.advance(3 * secondMs);
  await story.untilTimelineHas(id, 'no_clear_answer');
  return id;
}

/** Moves the clock in steps; the service does what becomes due. */
async function passSeconds(seconds: number): Promise<void> {
  const steps = Math.ceil(seconds / 5);
  for (let step = 0; step < steps; step += 1) await story.advance((seconds * secondMs) / steps);
}

/** While the outcome is unknown the money is held, and the transfer cannot be cancelled. */
async function assertHeld(id: string, balanceBefore: number): Promise<void> {
  const { status, failure_code: failure } = await story.retrieve(id);
  assert.deepEqual([status, failure], ['pending', null]);
  assert.equal(await story.payoutBalance(), balanceBefore - 100);
  assert.deepEqual(await story.movements(id), ['held payable_available → held 10000']);
}

async function assertPaidOnce(id: string, balanceBefore: number): Promise<void> {
  assert.equal(await story.statusOf(id), 'completed');
  assert.deepEqual(
    (await story.payouts(id)).map(({ status }) => status),
    ['completed'],
  );
  assert.equal(await story.payoutBalance(), balanceBefore - 100);
  assert.deepEqual(await story.movements(id), [
    'held payable_available → held 10000',
    'transfer held → float:gsma-test 10000',
  ]);
  assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.succeeded']);
  assert.deepEqual(await story.cases(id), []);
}

const brokenMinutes = effort({ usual: 6, long: 20 });
const ambiguousFaults = proxyFaults.filter((fault) => fault !== 'connection refused');

// Each fault with every other outcome, its neighbours with the rest: only the look-up shows the outcome.
const everyEnd = effort({ usual: 2, long: 1 });

for (const [position, fault] of ambiguousFaults.entries()) {
  const ends = ['paid', 'never got it', 'refused'].filter((_, index) => (position + index) % everyEnd === 0);
  const testEnd = (end: string, title: string, body: () => Promise<void>) => {
    if (ends.includes(end)) test(`${fault}, and the network ${title}`, body);
  };

  testEnd('paid', 'has paid: the money stays held until a look-up finds it, and nothing is sent again', async () => {
    const balance = await story.payoutBalance();
    const sent = proxy.payoutRequests().length;
    const id = await transferDuring(fault, { number: '7001234', arrives: true });
    await assertHeld(id, balance);
    assert.equal((await story.api.post(`/v1/transfers/${id}/cancel`)).body['code'], 'state_conflict');
    await passSeconds(5);
    await assertPaidOnce(id, balance);
    assert.equal(proxy.payoutRequests().length, sent + 1);
  });

  testEnd(
    'never got it',
    'never got it: the same order goes out again, but not before it could have arrived',
    async () => {
      const balance = await story.payoutBalance();
      const sent = proxy.payoutRequests().length;
      const id = await transferDuring(fault, { number: '7001234', arrives: false });
      await assertHeld(id, balance);
      await passSeconds(26);
      await assertHeld(id, balance);
      assert.deepEqual(await story.payouts(id), []);
      await passSeconds(40);
      await assertPaidOnce(id, balance);
      assert.deepEqual(
        (await story.timeline(id)).filter((kind) => kind.startsWith('sent')),
        ['sent_to_network', 'sent_again'],
      );
      const bodies = proxy.payoutRequests().slice(sent);
      assert.equal(new Set(bodies).size, 1, 'the same bytes, under the same reference');
    },
  );

  testEnd('refused', 'has refused: the money comes back with its final word, and not before', async () => {
    const balance = await story.payoutBalance();
    const id = await transferDuring(fault, { number: '7000002', arrives: true });
    await assertHeld(id, balance);
    await passSeconds(5);
    const { status, failure_code: failure } = await story.retrieve(id);
    assert.deepEqual([status, failure], ['failed', 'account_not_found']);
    assert.equal(await story.payoutBalance(), balance);
    assert.equal((await story.payouts(id)).length, 1);
  });
}

test('40 payouts to a network that pays and never answers are all sent within three minutes', async () => {
  const queue = await story.forAnotherMerchant();
  await proxy.breakCalls('reset after the body', { calls: 1_000, arrives: true, sendsOnly: true });
  const sent = proxy.payoutRequests().length;
  // One number, because a circuit breaker of the test environment is of one.
  const ids = await Promise.all(Array.from({ length: 40 }, () => queue.transfer('7001299', { amount: 1 })));
  await queue.settle();
  const waiting = async () =>
    (await Promise.all(ids.map((id) => queue.retrieve(id)))).filter((body) => body['waiting_for'] !== null).length;
  assert.ok((await waiting()) > 0, 'sends without an answer open the circuit breaker');
  await passSeconds(175);
  assert.equal(await queue.payoutCount(), 40);
  await proxy.repair();
  await passSeconds(5);
  for (const id of ids) assert.equal(await queue.statusOf(id), 'completed');
  assert.equal(proxy.payoutRequests().length, sent + 40, 'each was sent once');
});

test('a lost response whose look-ups fail too: the money stays held until one succeeds', async () => {
  for (const fault of ['reset after the body', '502 of a proxy', '200 with garbage'] as const) {
    const balance = await story.payoutBalance();
    const id = await transferDuring(fault, { number: '7001234', arrives: true, calls: 1_000 });
    const sent = proxy.payoutRequests().length;
    for (let minute = 0; minute < brokenMinutes; minute += 1) await story.advance(60 * secondMs);
    await assertHeld(id, balance);
    assert.equal(proxy.payoutRequests().length, sent, 'nothing is sent again while nobody knows');
    await proxy.repair();
    await story.advance(60 * secondMs);
    await assertPaidOnce(id, balance);
  }
});

test('connection refused: the transfer waits, is sent when the network is back, and pays once', async () => {
  const balance = await story.payoutBalance();
  const id = await transferDuring('connection refused', { number: '7001234', arrives: false });
  await assertHeld(id, balance);
  assert.equal((await story.retrieve(id))['waiting_for'], 'network_unavailable');
  await passSeconds(10);
  await assertHeld(id, balance);
  await proxy.repair();
  await passSeconds(60);
  await assertPaidOnce(id, balance);
});

test('connection refused: a transfer can be cancelled while it waits, and is then never sent', async () => {
  const balance = await story.payoutBalance();
  const id = await transferDuring('connection refused', { number: '7001235', arrives: false });
  const cancelled = await story.api.post(`/v1/transfers/${id}/cancel`);
  assert.deepEqual([cancelled.status, await story.payoutBalance()], [200, balance]);
  await proxy.repair();
  await passSeconds(60);
  assert.deepEqual([await story.statusOf(id), (await story.payouts(id)).length], ['cancelled', 0]);
});

test('connection refused after a lost call that paid: one payout, and no cancellation', async () => {
  const balance = await story.payoutBalance();
  const id = await transferDuring('reset after the body', { number: '7001236', arrives: true });
  await proxy.breakCalls('connection refused', { calls: 1, arrives: false });
  for (let minute = 0; minute < 5; minute += 1) await story.advance(60 * secondMs);
  await assertHeld(id, balance);
  assert.equal((await story.api.post(`/v1/transfers/${id}/cancel`)).status, 409);
  await proxy.repair();
  await story.advance(60 * secondMs);
  await assertPaidOnce(id, balance);
});

test('a request that reaches the network long after its resend pays nothing more', async () => {
  const balance = await story.payoutBalance();
  const position = proxy.payoutRequests().length;
  const id = await transferDuring('no response in time', { number: '7001237', arrives: false });
  await passSeconds(60);
  await assertPaidOnce(id, balance);
  assert.equal(await proxy.deliverLate(position), 400, 'its key is known');
  await passSeconds(5);
  await assertPaidOnce(id, balance);
});

test('a callback completes a transfer whose response was lost', async () => {
  await story.restoreCallbacks();
  const balance = await story.payoutBalance();
  const id = await transferDuring('reset after the body', { number: '7000009', arrives: true });
  await story.advance(2 * secondMs);
  await assertPaidOnce(id, balance);
});
