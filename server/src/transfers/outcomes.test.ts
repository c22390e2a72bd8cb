import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PayoutResponse } from '../networks/contract.ts';
import { applyResponse } from './apply-response.ts';
import type { Transfer } from './transfer.ts';
import {
  createTransferWorld,
  noResponse,
  paid,
  refused,
  processing,
  type TransferWorld,
} from './transfer-world.corpus.ts';

let world: TransferWorld;

before(async () => {
  // Ten dalasi on each transfer, so that the tests see where the fee goes.
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

/** By how much each account changed; accounts without a change are left out. */
async function changes(body: () => Promise<void>): Promise<Record<string, bigint>> {
  const before = await Promise.all(accounts.map((account) => world.balance(account)));
  await body();
  const now = await Promise.all(accounts.map((account) => world.balance(account)));
  const entries = accounts.map((account, index) => [account, (now[index] ?? 0n) - (before[index] ?? 0n)] as const);
  await world.verify();
  return Object.fromEntries(entries.filter(([, change]) => change !== 0n));
}

/** Applies these reports of the network, in this order. */
async function reported(transfer: Transfer, ...responses: PayoutResponse[]): Promise<Transfer> {
  for (const response of responses) await applyResponse(world.context, await world.transfer(transfer), response);
  return world.transfer(transfer);
}

test('a new transfer holds amount and fee and emits its event', async () => {
  let transfer: Transfer | undefined;
  const change = await changes(async () => {
    transfer = await world.create();
  });
  assert.deepEqual(change, { payable_available: -11_000n, held: 11_000n });
  assert.ok(transfer);
  assert.deepEqual([transfer.status, transfer.progress], ['pending', 'created']);
  assert.deepEqual(await world.events(transfer), ['transfer.created']);
  await world.cancel(transfer);
});

test('a success debits the float and books the fee once, however often it is reported', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    const done = await reported(transfer, paid(transfer), paid(transfer), paid(transfer));
    assert.deepEqual([done.status, done.progress], ['completed', 'final']);
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -10_000n, fees: 1_000n });
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.succeeded']);
  assert.deepEqual(await world.cases(transfer), []);
});

test('a fee of the network on top is booked as a network cost', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    await reported(transfer, paid(transfer, { networkFeeMinor: 150n }));
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -10_150n, fees: 1_000n, network_costs: 150n });
});

test('a documented refusal releases amount and fee, once', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    const failed = await reported(transfer, refused, refused);
    assert.deepEqual([failed.status, failed.failureCode], ['failed', 'account_not_found']);
  });
  assert.deepEqual(change, { held: -11_000n, payable_available: 11_000n });
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.failed']);
});

const unclear: PayoutResponse[] = [
  noResponse,
  { state: 'not_found' },
  processing,
  { state: 'not_accepted', reason: 'network_unavailable' },
];

for (const response of unclear) {
  test(`${response.state} moves no money and does not end the transfer`, async () => {
    const transfer = await world.createSent(processing);
    const change = await changes(async () => {
      assert.equal((await reported(transfer, response, response)).status, 'pending');
    });
    assert.deepEqual(change, {});
    await reported(transfer, paid(transfer));
  });
}

test('another amount leaves what was not paid in suspense, with a case, and the transfer open', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    const waiting = await reported(
      transfer,
      paid(transfer, { amountMinor: 9_000n }),
      paid(transfer, { amountMinor: 9_000n }),
    );
    assert.deepEqual([waiting.status, waiting.review], ['pending', 'amount_mismatch']);
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -9_000n, suspense: 2_000n });
  assert.deepEqual(await world.cases(transfer), ['amount_mismatch']);
  assert.deepEqual(await world.events(transfer), ['transfer.created']);
});

test('an overpaid amount is the operator’s cost until a person decides', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    await reported(transfer, paid(transfer, { amountMinor: 12_500n }));
  });
  assert.deepEqual(change, { held: -11_000n, 'float:rail-wave': -12_500n, suspense: 1_000n, network_costs: 2_500n });
});

test('another currency is not booked and opens a case; the money stays held', async () => {
  const transfer = await world.createSent(processing);
  const change = await changes(async () => {
    assert.equal((await reported(transfer, paid(transfer, { currency: 'XOF' }))).status, 'pending');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.cases(transfer), ['contradictory_outcome']);
});

test('a success after a failure is booked and opens a case, but does not change the status', async () => {
  const transfer = await world.createSent(refused);
  const change = await changes(async () => {
    const after = await reported(transfer, paid(transfer), paid(transfer));
    assert.deepEqual([after.status, after.review], ['failed', 'late_success']);
  });
  assert.deepEqual(change, { payable_available: -10_000n, 'float:rail-wave': -10_000n });
  assert.deepEqual(await world.cases(transfer), ['late_success']);
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.failed']);
});

test('a merchant who has spent the money of a late success owes the rest', async () => {
  const merchant = await world.newMerchant();
  const transfer = await world.create({ amountMinor: 60_000_000n }, merchant);
  const rest = await world.create({ amountMinor: 39_000_000n }, merchant);
  await reported(transfer, noResponse);
  await world.db.run({
    name: 'test_submitted',
    text: "UPDATE transfers SET progress = 'submitted', sends = 1, sent_at = created_at WHERE merchant_id = $1",
    values: [merchant.id],
  });
  await reported(transfer, refused);
  const again = await world.create({ amountMinor: 50_000_000n }, merchant);
  await reported(transfer, paid(transfer));
  assert.equal(await world.balance('payable_available', merchant), 0n);
  assert.equal(
    await world.balance('receivable_merchant', merchant),
    60_000_000n - (100_000_000n - 39_001_000n - 50_001_000n),
  );
  await world.verify();
  assert.ok(rest.id !== again.id);
});

test('a reversal after a success returns amount and fee, with a case', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const reversal: PayoutResponse = { ...paid(transfer), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(transfer, reversal, reversal, paid(transfer))).status, 'reversed');
  });
  assert.deepEqual(change, { 'float:rail-wave': 10_000n, payable_available: 11_000n, fees: -1_000n });
  assert.deepEqual(await world.cases(transfer), ['network_reversal']);
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
});

test('a reversal that arrives before its success returns amount and fee', async () => {
  const transfer = await world.createSent(processing);
  const reversal: PayoutResponse = { ...paid(transfer), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(transfer, reversal, paid(transfer), reversal)).status, 'reversed');
  });
  assert.deepEqual(change, { held: -11_000n, payable_available: 11_000n });
  assert.deepEqual(await world.events(transfer), ['transfer.created', 'transfer.succeeded', 'transfer.reversed']);
});

test('the reversal of a late success repays what the merchant owes for it', async () => {
  const transfer = await world.createSent(refused);
  await reported(transfer, paid(transfer));
  const reversal: PayoutResponse = { ...paid(transfer), state: 'reversed' } as PayoutResponse;
  const change = await changes(async () => {
    assert.equal((await reported(transfer, reversal, reversal)).status, 'failed');
  });
  assert.deepEqual(change, { 'float:rail-wave': 10_000n, payable_available: 10_000n });
  assert.deepEqual(await world.cases(transfer), ['late_success', 'network_reversal']);
});

test('a refusal after a success reverses nothing and opens a case', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const change = await changes(async () => {
    assert.equal((await reported(transfer, refused, refused)).status, 'completed');
  });
  assert.deepEqual(change, {});
  assert.deepEqual(await world.cases(transfer), ['contradictory_outcome']);
});

test('a second transaction first reported in another currency is booked once reported in ours', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const transactionId = `again-${transfer.reference}`;
  const change = await changes(async () => {
    await reported(transfer, paid(transfer, { transactionId, currency: 'XOF' }), paid(transfer, { transactionId }));
    await reported(transfer, paid(transfer, { transactionId }));
  });
  assert.deepEqual(change, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(transfer), ['contradictory_outcome', 'second_success']);
});

test('a second transaction for one transfer is the operator’s loss until it is recovered', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const second = paid(transfer, { transactionId: `again-${transfer.reference}` });
  const change = await changes(async () => {
    assert.equal((await reported(transfer, second, second)).status, 'completed');
  });
  assert.deepEqual(change, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(transfer), ['second_success']);
});

test('a second transaction is booked unless all of it was reversed before it was reported', async () => {
  const transfer = await world.createSent(processing);
  await reported(transfer, paid(transfer));
  const [whole, part] = ['whole', 'part'].map((name) => ({ transactionId: `${name}-${transfer.reference}` }));
  const wholeIsBack = await changes(async () => {
    await reported(transfer, { ...paid(transfer, whole), state: 'reversed' } as PayoutResponse, paid(transfer, whole));
  });
  assert.deepEqual(wholeIsBack, {});
  const partIsBack = await changes(async () => {
    const back = { ...paid(transfer, { ...part, amountMinor: 4_000n }), state: 'reversed' } as PayoutResponse;
    await reported(transfer, back, paid(transfer, part), paid(transfer, part));
  });
  assert.deepEqual(partIsBack, { 'float:rail-wave': -10_000n, network_costs: 10_000n });
  assert.deepEqual(await world.cases(transfer), ['network_reversal', 'network_reversal', 'second_success']);
});

test('a transaction that settled another transfer cannot settle this one, and the money stays held', async () => {
  const [one, other] = [await world.createSent(processing), await world.createSent(processing)];
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

test('a reused transaction does not replace the review of money that has moved', async () => {
  const settled = await world.createSent(processing);
  await reported(settled, paid(settled));
  const borrowed = (transfer: Transfer) => paid(transfer, { transactionId: `T-${settled.reference}` });
  const other = await world.createSent(processing);
  await reported(other, paid(other, { amountMinor: 9_000n }));
  assert.equal((await reported(other, borrowed(other))).review, 'amount_mismatch');
  const late = await world.createSent(refused);
  await reported(late, paid(late));
  assert.equal((await reported(late, borrowed(late))).review, 'late_success');
  assert.deepEqual(await world.cases(late), ['late_success', 'receipt_reused']);
});

test('another currency is not booked for a transfer that has ended either', async () => {
  const failed = await world.createSent(refused);
  const done = await world.createSent(processing);
  await reported(done, paid(done));
  const change = await changes(async () => {
    await reported(failed, paid(failed, { currency: 'XOF' }));
    await reported(done, paid(done, { currency: 'XOF', transactionId: `again-${done.reference}` }));
  });
  assert.deepEqual(change, {});
  for (const transfer of [failed, done]) assert.deepEqual(await world.cases(transfer), ['contradictory_outcome']);
});

test('an unsent transfer cannot be refused, and a cancelled one can still be reported paid', async () => {
  const transfer = await world.create();
  assert.equal((await reported(transfer, refused)).status, 'pending');
  await world.cancel(transfer);
  const change = await changes(async () => {
    assert.equal((await reported(transfer, paid(transfer))).status, 'cancelled');
  });
  assert.deepEqual(change, { payable_available: -10_000n, 'float:rail-wave': -10_000n });
  assert.deepEqual(await world.cases(transfer), ['late_success']);
});

test('ten concurrent copies of one notification are booked once', async () => {
  for (const [response, status] of [
    [(transfer: Transfer) => paid(transfer), 'completed'],
    [() => refused, 'failed'],
  ] as const) {
    const transfer = await world.createSent(processing);
    await Promise.all(Array.from({ length: 10 }, () => applyResponse(world.context, transfer, response(transfer))));
    assert.equal((await world.transfer(transfer)).status, status);
    await world.verify();
    assert.deepEqual((await world.events(transfer)).length, 2);
  }
});

test('the hint that another amount than requested was reversed finds the reversal', async () => {
  for (const isHintedFirst of [true, false]) {
    const transfer = await world.createSent(processing);
    const response = paid(transfer, { amountMinor: 9_000n });
    assert.ok(response.state === 'succeeded');
    world.networks.wave.payoutResponses.look_up_payout = { ...response, state: 'reversed' };
    const hint = { operation: 'payout', reference: transfer.reference, response: null } as const;
    if (isHintedFirst) await world.jobs.applyNotification('rail-wave', hint);
    await applyResponse(world.context, transfer, response);
    if (!isHintedFirst) await world.jobs.applyNotification('rail-wave', hint);
    await world.work();
    assert.deepEqual(await world.cases(transfer), ['amount_mismatch', 'network_reversal']);
  }
});
