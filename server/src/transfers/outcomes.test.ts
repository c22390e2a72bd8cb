import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import type { Transfer } from './transfer.ts';
import { createTransferWorld, noResponse, paid, refused, taken } from './transfer-world.corpus.ts';
import type { TransferWorld } from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  // Ten dalasi on each transfer, so that the fee is seen wherever it goes.
  world = await createTransferWorld({ feeMinor: 1_000n });
});

after(async () => {
  await world.verify();
  await world.close();
});

const accounts = [
  'payable_available',
  'held',
  'float:rail-wave',
  'fees',
  'suspense',
  'network_costs',
  'receivable_merchant',
] as const;

/** By how much each account changed; what did not change is left out. */
async function changes(body: () => Promise<void>): Promise<Record<string, bigint>> {
  const before = await Promise.all(accounts.map((account) => world.balance(account)));
  await body();
  const now = await Promise.all(accounts.map((account) => world.balance(account)));
  const entries = accounts.map((account, index) => [account, (now[index] ?? 0n) - (before[index] ?? 0n)] as const);
  await world.verify();
  return Object.fromEntries(entries.filter(([, change]) => change !== 0n));
}

/** Everything the network says, as often and in whatever order it says it. */
async function reported(transfer: Transfer, ...responses: PayoutResponse[]): Promise<Transfer> {
  for (const response of responses) await applyResponse(world.context, await world.transfer(transfer), response);
  return world.transfer(transfer);
}

test('an order holds amount and fee at once, and tells of itself', async () => {
  let order: Transfer | undefined;
  const change = await changes(async () => {
    order = await world.create();
  });
  assert.deepEqual(change, { payable_available: -11_000n, held: 11_000n });
  assert.ok(order);
  assert.deepEqual([order.status, order.progress], ['pending', 'created']);
  assert.deepEqual(await world.events(order), ['transfer.created']);
  await world.cancel(order);
});

test('a success debits the float and books the fee once, however often it is reported', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    const done = await reported(order, paid(order), paid(order), paid(order));
    assert.deepEqual([done.status, done.progress], ['completed', 'final']);
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -10_000n, fees: 1_000n });
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.succeeded']);
  assert.deepEqual(await world.cases(order), []);
});

test('what the network takes on top is a cost of ours', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    await reported(order, paid(order, { networkFeeMinor: 150n }));
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -10_150n, fees: 1_000n, network_costs: 150n });
});

test('a documented refusal releases amount and fee, once', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    const failed = await reported(order, refused, refused);
    assert.deepEqual([failed.status, failed.failureCode], ['failed', 'account_not_found']);
  });
  assert.deepEqual(change, { held: -11_000n, payable_available: 11_000n });
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.failed']);
});

const unclear: PayoutResponse[] = [
  noResponse,
  { state: 'not_found' },
  taken,
  { state: 'not_accepted', reason: 'network_unavailable' },
];

for (const response of unclear) {
  test(`${response.state} moves no money and ends nothing`, async () => {
    const order = await world.createSent(taken);
    const change = await changes(async () => {
      assert.equal((await reported(order, response, response)).status, 'pending');
    });
    assert.deepEqual(change, {});
    await reported(order, paid(order));
  });
}

test('another amount leaves what was not paid in suspense, with a case, and the transfer open', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    const waiting = await reported(order, paid(order, { amountMinor: 9_000n }), paid(order, { amountMinor: 9_000n }));
    assert.deepEqual([waiting.status, waiting.review], ['pending', 'amount_mismatch']);
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -9_000n, suspense: 2_000n });
  assert.deepEqual(await world.cases(order), ['amount_mismatch']);
  assert.deepEqual(await world.events(order), ['transfer.created']);
});

test('an overpaid amount is the operator’s cost until a person decides', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    await reported(order, paid(order, { amountMinor: 12_500n }));
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -12_500n, suspense: 1_000n, network_costs: 2_500n });
});

test('another currency is booked nowhere and opens a case; the money stays held', async () => {
  const order = await world.createSent(taken);
  const change = await changes(async () => {
    assert.equal((await reported(order, paid(order, { currency: 'XOF' }))).status, 'pending');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.cases(order), ['contradictory_outcome']);
});

test('a success after a failure is a case and an entry, never a change of what was said', async () => {
  const order = await world.createSent(refused);
  const change = await changes(async () => {
    const after = await reported(order, paid(order), paid(order));
    assert.deepEqual([after.status, after.review], ['failed', 'late_success']);
  });
  assert.deepEqual(change, { payable_available: -10_000n, 'float:rail-wave': -10_000n });
  assert.deepEqual(await world.cases(order), ['late_success']);
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.failed']);
});

test('a merchant who has spent the money of a late success owes the rest', async () => {
  const merchant = await world.newMerchant();
  const order = await world.create({ amountMinor: 60_000_000n }, merchant);
  const rest = await world.create({ amountMinor: 39_000_000n }, merchant);
  await reported(order, noResponse);
  await world.db.run({
    name: 'test_submitted',
    text: "UPDATE transfers SET progress = 'submitted', sends = 1, sent_at = created_at WHERE merchant_id = $1",
    values: [merchant.id],
  });
  await reported(order, refused);
  const again = await world.create({ amountMinor: 50_000_000n }, merchant);
  await reported(order, paid(order));
  assert.equal(await world.balance('payable_available', merchant), 0n);
  assert.equal(
    await world.balance('receivable_merchant', merchant),
    60_000_000n - (100_000_000n - 39_001_000n - 50_001_000n),
  );
  await world.verify();
  assert.ok(rest.id !== again.id);
});

test('a reversal after a success returns amount and fee, with a case', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const reversal: PayoutResponse = { ...paid(order), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(order, reversal, reversal, paid(order))).status, 'reversed');
  });
  assert.deepEqual(change, { 'float:rail-wave': 10_000n, payable_available: 11_000n, fees: -1_000n });
  assert.deepEqual(await world.cases(order), ['network_reversal']);
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
});

test('a reversal that comes before its success leaves the merchant with the whole money', async () => {
  const order = await world.createSent(taken);
  const reversal: PayoutResponse = { ...paid(order), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(order, reversal, paid(order), reversal)).status, 'reversed');
  });
  assert.deepEqual(change, { held: -11_000n, payable_available: 11_000n });
  assert.deepEqual(await world.events(order), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
});

test('the reversal of a late success repays what the merchant owes for it', async () => {
  const order = await world.createSent(refused);
  await reported(order, paid(order));
  const reversal: PayoutResponse = { ...paid(order), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(order, reversal, reversal)).status, 'failed');
  });
  assert.deepEqual(change, { 'float:rail-wave': 10_000n, payable_available: 10_000n });
  assert.deepEqual(await world.cases(order), ['late_success', 'network_reversal']);
});

test('a refusal after a success reverses nothing and opens a case', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const change = await changes(async () => {
    assert.equal((await reported(order, refused, refused)).status, 'completed');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.cases(order), ['contradictory_outcome']);
});

test('a second transaction that was first told in another currency is booked once it is told in ours', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const transactionId = `again-${order.reference}`;
  const change = await changes(async () => {
    await reported(order, paid(order, { transactionId, currency: 'XOF' }), paid(order, { transactionId }));
    await reported(order, paid(order, { transactionId }));
  });
  assert.deepEqual(change, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(order), ['contradictory_outcome', 'second_success']);
});

test('a second transaction for one order is the operator’s loss until it is recovered, not the merchant’s', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const second = paid(order, { transactionId: `again-${order.reference}` });
  const change = await changes(async () => {
    assert.equal((await reported(order, second, second)).status, 'completed');
  });
  assert.deepEqual(change, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(order), ['second_success']);
});

test('a second transaction is booked unless all of it had been given back before it was told', async () => {
  const order = await world.createSent(taken);
  await reported(order, paid(order));
  const [whole, part] = ['whole', 'part'].map((name) => ({ transactionId: `${name}-${order.reference}` }));
  const wholeIsBack = await changes(async () => {
    await reported(order, { ...paid(order, whole), state: 'reversed' } as PayoutResponse, paid(order, whole));
  });
  assert.deepEqual(wholeIsBack, {});
  const partIsBack = await changes(async () => {
    const back = { ...paid(order, { ...part, amountMinor: 4_000n }), state: 'reversed' } as PayoutResponse;
    await reported(order, back, paid(order, part), paid(order, part));
  });
  assert.deepEqual(partIsBack, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(order), ['network_reversal', 'network_reversal', 'second_success']);
});

test('a transaction that settled another transfer settles this one not, and the money stays held', async () => {
  const [one, other] = [await world.createSent(taken), await world.createSent(taken)];
  await reported(one, paid(one));
  const borrowed = paid(other, { transactionId: `T-${one.reference}` });
  const change = await changes(async () => {
    const after = await reported(other, borrowed, borrowed);
    assert.deepEqual([after.status, after.review], ['pending', 'receipt_reused']);
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.cases(other), ['receipt_reused']);
  assert.equal((await reported(other, paid(other))).status, 'completed', 'its own success still counts');
});

test('a transaction of something else leaves the review of money that has moved to its own case', async () => {
  const settled = await world.createSent(taken);
  await reported(settled, paid(settled));
  const borrowed = (order: Transfer) => paid(order, { transactionId: `T-${settled.reference}` });
  const other = await world.createSent(taken);
  await reported(other, paid(other, { amountMinor: 9_000n }));
  assert.equal((await reported(other, borrowed(other))).review, 'amount_mismatch');
  const late = await world.createSent(refused);
  await reported(late, paid(late));
  assert.equal((await reported(late, borrowed(late))).review, 'late_success');
  assert.deepEqual(await world.cases(late), ['late_success', 'receipt_reused']);
});

test('another currency is booked nowhere, also for a transfer that has ended', async () => {
  const failed = await world.createSent(refused);
  const done = await world.createSent(taken);
  await reported(done, paid(done));
  const change = await changes(async () => {
    await reported(failed, paid(failed, { currency: 'XOF' }));
    await reported(done, paid(done, { currency: 'XOF', transactionId: `again-${done.reference}` }));
  });
  assert.deepEqual(change, {});
  for (const order of [failed, done]) assert.deepEqual(await world.cases(order), ['contradictory_outcome']);
});

test('what was never sent cannot be refused, and what was cancelled can still be found paid', async () => {
  const order = await world.create();
  assert.equal((await reported(order, refused)).status, 'pending');
  await world.cancel(order);
  const change = await changes(async () => {
    assert.equal((await reported(order, paid(order))).status, 'cancelled');
  });
  assert.deepEqual(change, { payable_available: -10_000n, 'float:rail-wave': -10_000n });
  assert.deepEqual(await world.cases(order), ['late_success']);
});

test('ten concurrent copies of one notification are booked once', async () => {
  for (const [response, status] of [
    [(order: Transfer) => paid(order), 'completed'],
    [() => refused, 'failed'],
  ] as const) {
    const order = await world.createSent(taken);
    await Promise.all(Array.from({ length: 10 }, () => applyResponse(world.context, order, response(order))));
    assert.equal((await world.transfer(order)).status, status);
    await world.verify();
    assert.deepEqual((await world.events(order)).length, 2);
  }
});
