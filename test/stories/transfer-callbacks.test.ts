import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { asOwner } from '../harness/tables.ts';
import { startTransferStory } from '../harness/transfer-story.ts';
import type { TransferStory } from '../harness/transfer-story.ts';

// Callbacks about payouts, repeated and in any order. The payout stays pending at the network (0004), so that only the
// test's callbacks report anything.

const pendingNumber = '7000004';
const held = 'held payable_available → held 10000';
const paid = 'transfer held → float:gsma-test 10000';
const released = 'released held → payable_available 10000';
const refusal = { status: 'failed', failure_code: 'no_such_account', received: null };

let story: TransferStory;

before(async () => {
  story = await startTransferStory();
});
afterEach(() => story.verify());
after(() => story.stop());

/** Sends the same callback this often, one after the other or concurrently. */
async function report(data: unknown, { times, atOnce }: { times: number; atOnce: boolean }): Promise<void> {
  const send = async () => assert.equal(await story.sendPayoutCallback('aps', data), 200);
  if (atOnce) await Promise.all(Array.from({ length: times }, send));
  else for (let time = 0; time < times; time += 1) await send();
  await story.settle();
}

for (const atOnce of [false, true]) {
  const manner = `ten times ${atOnce ? 'at once' : 'in a row'}`;

  test(`a success that is reported ${manner} is one posting and one event`, async () => {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    await report(await story.payoutNotification(id), { times: 10, atOnce });
    assert.equal(await story.statusOf(id), 'completed');
    assert.deepEqual(await story.movements(id), [held, paid]);
    assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.succeeded']);
    assert.deepEqual(await story.cases(id), []);
    assert.equal(await story.payoutBalance(), balance - 100);
  });

  test(`a refusal that is reported ${manner} releases the money once`, async () => {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    await report(await story.payoutNotification(id, refusal), { times: 10, atOnce });
    assert.equal(await story.statusOf(id), 'failed');
    assert.deepEqual(await story.movements(id), [held, released]);
    assert.deepEqual(await story.events(id), ['transfer.created', 'transfer.failed']);
    assert.equal(await story.payoutBalance(), balance);
  });

  test(`a reversal reported ${manner} returns the money once, before or after the success`, async () => {
    for (const successFirst of [true, false]) {
      const balance = await story.payoutBalance();
      const id = await story.transferSettled(pendingNumber);
      const [success, reversal] = [
        await story.payoutNotification(id),
        await story.payoutNotification(id, { status: 'reversed' }),
      ];
      if (successFirst) await report(success, { times: 1, atOnce });
      await report(reversal, { times: 10, atOnce });
      await report(success, { times: 10, atOnce });
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

test('of a concurrent success and refusal of one transfer one is applied and the other is a case', async () => {
  for (let round = 0; round < 6; round += 1) {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    const [success, failure] = [await story.payoutNotification(id), await story.payoutNotification(id, refusal)];
    await Promise.all(
      [success, failure, success, failure].map((notification) => story.sendPayoutCallback('aps', notification)),
    );
    await story.settle();
    const status = await story.statusOf(id);
    const expected = status === 'completed' ? ['contradictory_outcome'] : ['late_success'];
    assert.deepEqual([['completed', 'failed'].includes(String(status)), await story.cases(id)], [true, expected]);
    assert.equal(await story.payoutBalance(), balance - 100, 'what left the network’s account is booked, either way');
  }
});

test('a mismatched payout is not completed: the hold is booked, and a case is opened', async () => {
  for (const [amount, movements] of [
    ['99.99', ['transfer_mismatch held → float:gsma-test 9999', 'transfer_mismatch held → suspense 1']],
    [
      '100.01',
      ['transfer_mismatch held → float:gsma-test 10000', 'transfer_mismatch network_costs → float:gsma-test 1'],
    ],
  ] as const) {
    const balance = await story.payoutBalance();
    const id = await story.transferSettled(pendingNumber);
    const notification = await story.payoutNotification(id);
    const received = { ...(notification['received'] as object), amount };
    await report({ ...notification, received }, { times: 3, atOnce: true });
    const { status, review } = await story.retrieve(id);
    assert.deepEqual([status, review], ['pending', 'amount_mismatch']);
    assert.deepEqual(await story.movements(id), [held, ...movements]);
    assert.deepEqual(await story.cases(id), ['amount_mismatch']);
    assert.equal(await story.payoutBalance(), balance - 100);
  }
});

test('a payout in another currency books nothing and opens a case', async () => {
  const id = await story.transferSettled(pendingNumber);
  const notification = await story.payoutNotification(id);
  await report(
    { ...notification, received: { ...(notification['received'] as object), currency: 'XOF' } },
    { times: 2, atOnce: false },
  );
  assert.deepEqual([await story.statusOf(id), await story.movements(id)], ['pending', [held]]);
  assert.deepEqual(await story.cases(id), ['contradictory_outcome']);
});

test('a provider transaction that paid one transfer pays no other, of this merchant or another', async () => {
  const other = await story.forAnotherMerchant();
  const [first, second] = [await story.transferSettled(pendingNumber), await story.transferSettled(pendingNumber)];
  const third = await other.transferSettled(pendingNumber);
  const received = { amount: '100.00', fee: '0.00', currency: 'GMD', transaction_id: 'T-used-once' };
  await report(await story.payoutNotification(first, { received }), { times: 1, atOnce: false });
  await report(await story.payoutNotification(second, { received }), { times: 2, atOnce: true });
  await report(await other.payoutNotification(third, { received }), { times: 2, atOnce: true });
  assert.equal(await story.statusOf(first), 'completed');
  for (const [owner, id] of [
    [story, second],
    [other, third],
  ] as const) {
    const { status, review } = await owner.retrieve(id);
    assert.deepEqual([status, review, await owner.movements(id)], ['pending', 'receipt_reused', [held]]);
    assert.deepEqual(await owner.cases(id), ['receipt_reused']);
  }
});

test('a callback signed by another network, unsigned, or of no transfer changes nothing', async () => {
  const id = await story.transferSettled(pendingNumber);
  const notification = await story.payoutNotification(id);
  assert.equal(
    await story.sendPayoutCallback('aps', notification, 'wave'),
    401,
    'signed with another network’s secret',
  );
  assert.equal(
    await story.sendPayoutCallback('wave', { ...notification, network: 'wave' }),
    200,
    'rightly signed, but not its own',
  );
  for (const reference of [
    'unknown',
    `${String(notification['reference'])}x`,
    String(notification['reference']).toLowerCase(),
    '',
  ]) {
    await story.sendPayoutCallback('aps', { ...notification, reference });
  }
  await story.settle();
  assert.deepEqual([await story.statusOf(id), await story.movements(id)], ['pending', [held]]);
  assert.deepEqual(await story.cases(id), []);
  const text = `SELECT count(*)::integer AS count FROM ledger_movements WHERE flow = 'transfer' AND source_id = $1`;
  assert.deepEqual(await asOwner(story.service, text, [id]), [{ count: 0 }]);
});

test('a payout callback never settles a payment, nor a payment callback a transfer', async () => {
  const id = await story.transferSettled(pendingNumber);
  const payment = await story.paySettled('7001234');
  const { reference } = await story.transaction(payment);
  const notification = await story.payoutNotification(id);
  await story.sendPayoutCallback('aps', { ...notification, reference });
  await story.sendCallback('aps', { ...(await story.sessionOf(payment)), reference: notification['reference'] });
  await story.settle();
  assert.deepEqual([await story.statusOf(id), (await story.intent(payment))['status']], ['pending', 'processing']);
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
