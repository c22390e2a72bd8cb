import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

// Callbacks about payouts, repeated and in any order. The payout stays pending at the network (0004), so that only what the test
// writes into its books, and reports, changes anything.

const pendingNumber = '7000004';
// Its state may be looked up as often as we like.
const reportedNumber = '7000009';
const unplanned = { planned_status: null, planned_at: null };
const held = 'held payable_available → held 10000';
const paid = 'transfer held → float:gsma-test 10000';
const released = 'released held → payable_available 10000';
const success = { status: 'completed' };
const refusal = { status: 'failed', failure_code: 'no_such_account' };

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});
afterEach(() => story.verify());
after(() => story.stop());

/** The network changes its books and reports this often, one after the other or concurrently. */
async function report(
  id: string,
  changes: Parameters<TransferStory['reportPayout']>[1],
  { times, atOnce }: { times: number; atOnce: boolean },
  owner = story,
): Promise<void> {
  assert.equal(await owner.reportPayout(id, changes), 200);
  const copies = Array.from({ length: times - 1 }, () => async () => assert.equal(await owner.reportPayout(id), 200));
  if (atOnce) await Promise.all(copies.map((copy) => copy()));
  else for (const copy of copies) await copy();
  await story.settle();
}

/** The books of a payout that was paid and is reversed. */
function reversal(): Parameters<TransferStory['reportPayout']>[1] {
  return { ...success, planned_status: 'reversed', planned_at: story.clock.now() };
}

for (const atOnce of [false, true]) {
  const manner = `ten times ${atOnce ? 'at once' : 'in a row'}`;

  test(`a success that is reported ${manner} is one posting and one event`, async () => {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    await report(id, success, { times: 10, atOnce });
    assert.equal(await story.statusOf(id), 'completed');
    assert.deepEqual(await story.movements(id), [held, paid]);
    assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.succeeded']);
    assert.deepEqual(await story.cases(id), []);
    assert.equal(await story.payoutBalance(), balance - 100);
  });

  test(`a refusal that is reported ${manner} releases the money once`, async () => {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    await report(id, refusal, { times: 10, atOnce });
    assert.equal(await story.statusOf(id), 'failed');
    assert.deepEqual(await story.movements(id), [held, released]);
    assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.failed']);
    assert.equal(await story.payoutBalance(), balance);
  });

  test(`a reversal reported ${manner} returns the money once, with or without a success before`, async () => {
    for (const successFirst of [true, false]) {
      const balance = await story.payoutBalance();
      const id = await story.transferSettled(pendingNumber);
      if (successFirst) await report(id, success, { times: 1, atOnce });
      await report(id, reversal(), { times: 10, atOnce });
      assert.equal(await story.statusOf(id), 'reversed');
      assert.deepEqual(await story.movements(id), [
        held,
        paid,
        'transfer_reversed float:gsma-test → payable_available 10000',
      ]);
      assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
      assert.deepEqual(await story.cases(id), ['network_reversal']);
      assert.equal(await story.payoutBalance(), balance);
    }
  });
}

test('of a success and a refusal of one transfer the first is applied and the other is a case', async () => {
  for (const [first, second, expected] of [
    [success, refusal, ['completed', 'contradictory_outcome']],
    [refusal, success, ['failed', 'late_success']],
  ] as const) {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(reportedNumber);
    await report(id, { ...first, ...unplanned }, { times: 2, atOnce: true });
    await report(id, second, { times: 2, atOnce: true });
    assert.deepEqual([await story.statusOf(id), ...(await story.cases(id))], expected);
    assert.equal(await story.payoutBalance(), balance - 100, 'what left the network’s account is booked, either way');
  }
});

test('a mismatched payout is not completed: the hold is booked, and a case is opened', async () => {
  for (const [amount, movements] of [
    [9_999n, ['transfer_mismatch held → float:gsma-test 9999', 'transfer_mismatch held → suspense 1']],
    [
      10_001n,
      ['transfer_mismatch held → float:gsma-test 10000', 'transfer_mismatch network_costs → float:gsma-test 1'],
    ],
  ] as const) {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    await report(id, { ...success, amount }, { times: 3, atOnce: true });
    const { status, review } = await story.retrieve(id);
    assert.deepEqual([status, review], ['pending', 'amount_mismatch']);
    assert.deepEqual(await story.movements(id), [held, ...movements]);
    assert.deepEqual(await story.cases(id), ['amount_mismatch']);
    assert.equal(await story.payoutBalance(), balance - 100);
  }
});

test('a payout in another currency books nothing and opens a case', async () => {
  const id = await story.transferSettled(pendingNumber);
  await report(id, { ...success, currency: 'XOF' }, { times: 2, atOnce: false });
  assert.deepEqual([await story.statusOf(id), await story.movements(id)], ['pending', [held]]);
  assert.deepEqual(await story.cases(id), ['contradictory_outcome']);
});

test('a provider transaction that paid one transfer pays no other merchant’s', async () => {
  const other = await story.forAnotherMerchant();
  const [first, second] = [await story.transferSettled(pendingNumber), await other.transferSettled(pendingNumber)];
  const paidBy = { ...success, transaction_id: 'TusedOnce' };
  await report(first, paidBy, { times: 1, atOnce: false });
  await report(second, paidBy, { times: 2, atOnce: true }, other);
  assert.equal(await story.statusOf(first), 'completed');
  const { status, review } = await other.retrieve(second);
  assert.deepEqual([status, review, await other.movements(second)], ['pending', 'receipt_reused', [held]]);
  assert.deepEqual(await other.cases(second), ['receipt_reused']);
});

test('a callback to another account, of another kind or of no transfer changes nothing', async () => {
  const id = await story.transferSettled(pendingNumber);
  const payment = await story.paySettled('7001234');
  const reference = String((await story.retrieve(id))['reference']);
  const ofPayment = String((await story.transaction(payment))['reference']);
  await story.changeBooks('payouts', reference, success);
  await story.changeBooks('sessions', ofPayment, { status: 'complete' });
  assert.equal(await story.sendHint('wave-test', { reference, operation: 'payout' }), 401, 'Wave signs its callbacks');
  await story.sendHint('aps', { reference, operation: 'collection' });
  await story.sendHint('aps', { reference: ofPayment, operation: 'payout' });
  for (const unknown of ['unknown', `${reference}x`, reference.toLowerCase(), '']) {
    await story.sendHint('aps', { reference: unknown, operation: 'payout' });
  }
  await story.settle();
  assert.deepEqual([await story.statusOf(id), await story.movements(id)], ['pending', [held]]);
  assert.deepEqual([await story.cases(id), (await story.intent(payment))['status']], [[], 'processing']);
});

test('a transfer cancelled during its send is either never sent or booked as paid', async () => {
  for (let round = 0; round < 5; round += 1) {
    const balance = await story.payoutBalance();
    const id = await story.transfer('7001234');
    const cancelled = await story.api.post(`/v1/transfers/${id}/cancel`);
    await story.settle();
    const isCancelled = cancelled.status === 200;
    assert.equal(await story.statusOf(id), isCancelled ? 'cancelled' : 'completed');
    assert.equal((await story.payouts(id)).length, isCancelled ? 0 : 1);
    assert.equal(await story.payoutBalance(), balance - (isCancelled ? 0 : 100));
  }
});
