import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import { applyResponse } from './apply-response.ts';
import { chargeToWire } from './charge-wire.ts';
import type { Charge } from './charge.ts';
import { expirePayments } from './expire-payments.ts';
import type { Intent } from './intent.ts';
import { fromApi } from './create-payment.ts';
import { refused, reversed, succeeded } from './payment-world.corpus.ts';
import { createResolveWorld, type ResolveWorld } from './resolve-world.corpus.ts';

let world: ResolveWorld;

before(async () => {
  world = await createResolveWorld();
  await world.openConnections();
});

afterEach(() => world.verify());

after(() => world.close());

const minuteMs = 60_000;

/** A payment of GMD 100.00 for which this amount was received. */
async function mismatch(amountMinor: bigint, changes: { currency?: string } = {}) {
  const { intent, charge } = await world.createSent();
  const transactionId = `T-part-${charge.reference}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId, amountMinor, ...changes }));
  return { intent, charge, transactionId, found: await world.caseOf(charge, 'amount_mismatch') };
}

/** A payment whose second attempt paid first, and then the first one too. */
async function secondSuccess(): Promise<{ intent: Intent; first: Charge; second: Charge }> {
  const { intent, charge: second } = await world.createSent();
  await applyResponse(world.context, second, refused);
  const first = await world.attempt(intent, 'wave');
  await world.work();
  await applyResponse(world.context, first, succeeded(first));
  await applyResponse(world.context, second, succeeded(second));
  return { intent, first, second };
}

const balances = () =>
  Promise.all(
    (['suspense', 'payable_available', 'fees', 'float:rail-wave'] as const).map((name) => world.balance(name)),
  );

/** What `work` changed on suspense, the merchant's balance, the fees and the float. */
async function changes(work: () => Promise<unknown>): Promise<bigint[]> {
  const start = await balances();
  await work();
  return (await balances()).map((balance, index) => balance - (start[index] ?? 0n));
}

test('an accepted mismatch credits the amount received, and the record shows it', async () => {
  const { intent, charge, transactionId, found } = await mismatch(12_000n);
  assert.deepEqual(await world.possible(found), ['accept', 'return']);
  await world.clock.advance(minuteMs);
  const moved = await changes(() => world.resolve(found, 'accept'));
  assert.deepEqual(moved, [-12_000n, 12_000n, 0n, 0n]);
  assert.deepEqual(await world.movements(charge), [
    'suspense float:rail-wave → suspense 12000',
    'accepted suspense → payable_available 12000',
  ]);
  const paid = await world.charge(charge);
  assert.deepEqual([paid.status, paid.review, paid.late], ['completed', null, false]);
  assert.deepEqual([paid.networkTransactionId, paid.amountReceivedMinor], [transactionId, 12_000n]);
  assert.deepEqual(paid.paidAt, found.createdAt, 'paid when the network reported it, not when somebody decided');
  const now = await world.intent(intent);
  assert.deepEqual([now.status, now.review, now.late], ['successful', null, false]);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
  const record = chargeToWire(world.context, world.merchant, now, paid);
  assert.deepEqual([record['amount'], record['amount_paid'], record['transaction_fee']], [100, 120, 0]);
  assert.equal(await world.statusOf(found), 'resolved accept');
  assert.ok((await world.notes(charge)).includes('case_resolved'));
  // The same notification once more, and a refusal: nothing changes.
  assert.deepEqual(
    await changes(async () => {
      await applyResponse(world.context, charge, succeeded(charge, { transactionId, amountMinor: 12_000n }));
      await applyResponse(world.context, charge, refused);
      await world.work();
    }),
    [0n, 0n, 0n, 0n],
  );
});

test('the fee of an accepted mismatch is taken from the amount received, and is never more', async () => {
  const owner = await world.setFee({ fixedMinor: 500n });
  await world.clock.advance(3_000);
  for (const [amountMinor, fee] of [
    [9_000n, 500n],
    [300n, 300n],
  ] as const) {
    const { charge } = await world.create({}, owner);
    await applyResponse(world.context, charge, succeeded(charge, { amountMinor }));
    const found = await world.caseOf(charge, 'amount_mismatch');
    assert.deepEqual(await changes(() => world.resolve(found, 'accept')), [-amountMinor, amountMinor - fee, fee, 0n]);
    const paid = await world.charge(charge);
    const intent = await world.intent({ merchantId: owner.id, id: charge.intentId });
    const record = chargeToWire(world.context, owner, intent, paid);
    assert.deepEqual(
      [record['amount_paid'], record['transaction_fee']],
      [Number(amountMinor) / 100, Number(fee) / 100],
    );
    // The network reverses the amount received, including the fee.
    const back = await changes(() => applyResponse(world.context, charge, reversed(charge, { amountMinor })));
    assert.deepEqual(back, [0n, fee - amountMinor, -fee, -amountMinor]);
    assert.equal((await world.charge(charge)).status, 'reversed');
  }
  await world.setFee({ fixedMinor: 0n });
  await world.clock.advance(3_000);
});

test('a mismatch accepted after the expiry is not late, because the money was received in time', async () => {
  const { intent, found } = await mismatch(9_000n);
  await world.clock.advance(40 * minuteMs);
  await expirePayments(world.context);
  assert.equal((await world.intent(intent)).status, 'processing', 'under review nothing expires');
  await world.resolve(found, 'accept');
  const now = await world.intent(intent);
  assert.deepEqual([now.status, now.late], ['successful', false]);
});

/** The work about a charge that waits outside the networks' queues, with the time when it is due. */
function workOf({ merchantId, id }: Charge): Promise<{ kind: string; dueAt: Date }[]> {
  return world.db.rows({
    name: 'test_work_of_charge',
    text: `SELECT kind, due_at AS "dueAt" FROM outbox
           WHERE merchant_id = $1 AND subject_id = $2 AND queue IN ('settlement', 'notifications') ORDER BY kind`,
    values: [merchantId, id],
  });
}

test('an accepted mismatch settles after the merchant’s delay, counted from its arrival', async () => {
  const { settings } = world.context;
  settings.settlementDelayMs = 60 * minuteMs;
  try {
    const { charge, found } = await mismatch(12_000n);
    await world.clock.advance(minuteMs);
    const pending = await world.balance('payable_pending');
    assert.deepEqual(await changes(() => world.resolve(found, 'accept')), [-12_000n, 0n, 0n, 0n]);
    assert.equal(await world.balance('payable_pending'), pending + 12_000n);
    const settlesAt = new Date(found.createdAt.getTime() + 60 * minuteMs);
    assert.deepEqual((await world.charge(charge)).settlesAt, settlesAt);
    assert.deepEqual(await workOf(charge), [{ kind: 'settle_charge', dueAt: settlesAt }]);
  } finally {
    settings.settlementDelayMs = 0;
  }
});

test('an accepted mismatch at a terminal notifies the staff', async () => {
  const terminalId = world.context.newId();
  const origin = { ...fromApi, source: 'terminal', terminalId } as const;
  const { charge } = await world.createSent({ origin });
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 9_000n }));
  assert.deepEqual(await workOf(charge), []);
  await world.resolve(await world.caseOf(charge, 'amount_mismatch'), 'accept');
  assert.deepEqual(
    (await workOf(charge)).map(({ kind }) => kind),
    ['notify_charge'],
  );
});

test('an accepted mismatch first repays what the merchant advanced for a sub-account', async () => {
  const caller = { merchantId: world.merchant.id, testMode: true };
  const { id } = await world.db.withTransaction(async (tx) =>
    createSubAccount(tx, world.context, caller, { ...newSubAccount, percentHundredths: 2_000n }),
  );
  const paths = { subAccount: 'data.sub_account', group: 'data.sub_account_group' };
  const { charge } = await world.createSent({ split: { subAccountId: id, groupId: null, paths } });
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 9_000n }));
  await world.post({ debit: `sub_owed:${id}`, credit: 'due_from_subs', amountMinor: 1_500n });
  const found = await world.caseOf(charge, 'amount_mismatch');
  assert.deepEqual(await changes(() => world.resolve(found, 'accept')), [-9_000n, 8_500n, 0n, 0n]);
  assert.deepEqual([await world.balance(`sub:${id}`), await world.balance(`sub_owed:${id}`)], [500n, 0n]);
});

test('a mismatch returned in time leaves the float, and the payer may try again', async () => {
  const { intent, charge, found } = await mismatch(12_000n);
  const moved = await changes(() => world.resolve(found, 'return'));
  assert.deepEqual(moved, [-12_000n, 0n, 0n, -12_000n]);
  const failed = await world.charge(charge);
  assert.deepEqual([failed.status, failed.review, failed.failureCode], ['failed', null, 'money_returned']);
  assert.match(failed.failureReason ?? '', /GMD 120\.00 was received/);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.failed']);
  const open = await world.intent(intent);
  assert.deepEqual([open.status, open.review], ['requires_payment_method', null]);
  const again = await world.attempt(intent, 'wave');
  await applyResponse(world.context, again, succeeded(again));
  assert.equal((await world.intent(intent)).status, 'successful');
});

test('a mismatch returned too late expires the intent, with its event', async () => {
  const { intent, charge, found } = await mismatch(12_000n);
  await world.clock.advance(31 * minuteMs);
  await world.resolve(found, 'return');
  assert.equal((await world.charge(charge)).status, 'failed');
  await expirePayments(world.context);
  assert.equal((await world.intent(intent)).status, 'expired');
  assert.deepEqual(await world.events(intent), ['payment_intent.created', 'payment_intent.expired']);
});

test('a reversal of money that was returned before opens a case and is not booked', async () => {
  const { charge, transactionId, found } = await mismatch(12_000n);
  assert.equal((await world.charge(charge)).amountReceivedMinor, 12_000n);
  await world.resolve(found, 'return');
  assert.equal((await world.charge(charge)).amountReceivedMinor, null, 'nothing of it was kept');
  const notification = reversed(charge, { transactionId, amountMinor: 12_000n });
  assert.deepEqual(await changes(() => applyResponse(world.context, charge, notification)), [0n, 0n, 0n, 0n]);
  const reversal = await world.caseOf(charge, 'network_reversal');
  assert.match(reversal.summary, new RegExp(`returned already, by case ${found.id}`));
  assert.deepEqual(await changes(() => world.resolve(reversal, 'acknowledge')), [0n, 0n, 0n, 0n]);
});

test('money in another currency can only be returned, from the account of its currency', async () => {
  const { charge, found } = await mismatch(10_000n, { currency: 'XOF' });
  assert.deepEqual(await world.possible(found), ['return']);
  await world.refused(world.propose(found, 'accept'), /XOF and the payment in GMD/);
  assert.deepEqual(await changes(() => world.resolve(found, 'return')), [0n, 0n, 0n, 0n]);
  assert.deepEqual(await world.movements(charge), [
    'suspense float:rail-wave → suspense 10000',
    'returned suspense → float:rail-wave 10000',
  ]);
});

test('an accepted second payment completes its attempt, and the intent stays as it was', async () => {
  const { intent, first, second } = await secondSuccess();
  const before = await world.intent(intent);
  const found = await world.caseOf(second, 'second_success');
  assert.deepEqual(await changes(() => world.resolve(found, 'accept')), [-10_000n, 10_000n, 0n, 0n]);
  const paid = await world.charge(second);
  assert.deepEqual([paid.status, paid.review, paid.amountReceivedMinor], ['completed', null, null]);
  assert.deepEqual(await world.events(second), ['charge.created', 'charge.failed', 'charge.succeeded']);
  assert.deepEqual(await world.intent(intent), before);
  assert.equal((await world.charge(first)).status, 'completed');
  // Each of the two can be taken back by itself.
  for (const charge of [second, first]) {
    const back = await changes(() => applyResponse(world.context, charge, reversed(charge)));
    assert.deepEqual(back, [0n, -10_000n, 0n, -10_000n]);
    assert.equal((await world.charge(charge)).status, 'reversed');
  }
});

test('a second payment that is returned does not pay its attempt, which ends without an event', async () => {
  const { intent, second } = await secondSuccess();
  const found = await world.caseOf(second, 'second_success');
  assert.deepEqual(await changes(() => world.resolve(found, 'return')), [-10_000n, 0n, 0n, -10_000n]);
  const ended = await world.charge(second);
  assert.deepEqual([ended.status, ended.review], ['failed', null]);
  assert.equal((await world.intent(intent)).status, 'successful');

  const twice = await world.createSent();
  await applyResponse(world.context, twice.charge, refused);
  const other = await world.attempt(twice.intent, 'wave');
  await world.work();
  await applyResponse(world.context, twice.charge, succeeded(twice.charge));
  await applyResponse(world.context, other, succeeded(other));
  await world.resolve(await world.caseOf(other, 'second_success'), 'return');
  const cancelled = await world.charge(other);
  assert.deepEqual([cancelled.status, cancelled.failureCode, cancelled.review], ['cancelled', 'cancelled', null]);
  assert.deepEqual(await world.events(other), ['charge.created']);
});

test('two halves of one payment can both be accepted, and each reversed', async () => {
  const { charge, found: one, transactionId } = await mismatch(4_000n);
  const other = { transactionId: `T-rest-${charge.reference}`, amountMinor: 6_000n };
  await applyResponse(world.context, charge, succeeded(charge, other));
  const two = await world.caseOf(charge, 'amount_mismatch', other.transactionId);
  await world.resolve(one, 'accept');
  const half = await world.charge(charge);
  assert.deepEqual([half.status, half.review, half.amountReceivedMinor], ['completed', 'amount_mismatch', 4_000n]);
  assert.deepEqual(await changes(() => world.resolve(two, 'accept')), [-6_000n, 6_000n, 0n, 0n]);
  const whole = await world.charge(charge);
  assert.deepEqual([whole.review, whole.amountReceivedMinor], [null, null], 'it is the amount requested');
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded']);
  const back = reversed(charge, { transactionId, amountMinor: 4_000n });
  for (let time = 0; time < 2; time += 1) {
    const moved = await changes(() => applyResponse(world.context, charge, back));
    assert.deepEqual(moved, time === 0 ? [0n, -4_000n, 0n, -4_000n] : [0n, 0n, 0n, 0n]);
    const left = await world.charge(charge);
    assert.deepEqual([left.status, left.amountReceivedMinor], ['completed', 6_000n]);
  }
  assert.deepEqual(await changes(() => applyResponse(world.context, charge, reversed(charge, other))), [
    0n,
    -6_000n,
    0n,
    -6_000n,
  ]);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('returning one part of an attempt’s money ends nothing while another part is under review', async () => {
  const { intent, charge, found: one } = await mismatch(4_000n);
  const other = { transactionId: `T-rest-${charge.reference}`, amountMinor: 5_000n };
  await applyResponse(world.context, charge, succeeded(charge, other));
  await world.resolve(one, 'return');
  assert.deepEqual(
    [(await world.charge(charge)).status, (await world.intent(intent)).review],
    ['pending', 'amount_mismatch'],
  );
  await world.resolve(await world.caseOf(charge, 'amount_mismatch', other.transactionId), 'return');
  assert.deepEqual([(await world.charge(charge)).status, (await world.intent(intent)).review], ['failed', null]);
});

test('a mismatch can still be returned after the payment was paid with the right amount', async () => {
  const { charge, found } = await mismatch(4_000n);
  await applyResponse(world.context, charge, succeeded(charge));
  await world.resolve(found, 'return');
  const paid = await world.charge(charge);
  assert.deepEqual([paid.status, paid.review, paid.amountReceivedMinor], ['completed', null, null]);
});

for (const resolution of ['accept', 'return']) {
  test(`money reversed between proposal and confirmation is not booked: ${resolution}`, async () => {
    const { intent, charge, found, transactionId } = await mismatch(12_000n);
    await world.propose(found, resolution);
    await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor: 12_000n }));
    const reversal = await world.caseOf(charge, 'network_reversal');
    await world.refused(world.confirm(found), new RegExp(`reversed this money: resolve case ${reversal.id}`));
    assert.deepEqual(await world.possible(found), []);
    assert.deepEqual(await changes(() => world.resolve(reversal, 'acknowledge')), [-12_000n, 0n, 0n, -12_000n]);
    assert.deepEqual(
      [await world.statusOf(found), await world.statusOf(reversal)],
      ['resolved acknowledge', 'resolved acknowledge'],
    );
    assert.deepEqual(
      [(await world.charge(charge)).status, (await world.intent(intent)).status],
      ['failed', 'requires_payment_method'],
    );
  });
}

test('a reversal of another amount than is in suspense books nothing and closes no other case', async () => {
  const { charge, found, transactionId } = await mismatch(12_000n);
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor: 5_000n }));
  const reversal = await world.caseOf(charge, 'partial_reversal');
  assert.match(
    reversal.summary,
    / reversed GMD 50\.00 .* That is not the amount it had collected: nothing was booked\.$/,
  );
  assert.deepEqual(await world.possible(found), ['accept', 'return']);
  assert.deepEqual(await world.possible(reversal), ['acknowledge']);
  assert.deepEqual(await changes(() => world.resolve(reversal, 'acknowledge')), [0n, 0n, 0n, 0n]);
  assert.equal(await world.statusOf(found), 'open');
  assert.deepEqual(await changes(() => world.resolve(found, 'return')), [-12_000n, 0n, 0n, -12_000n]);
});

test('a reversal that was booked already is only acknowledged', async () => {
  const { charge } = await world.createSent();
  await applyResponse(world.context, charge, succeeded(charge));
  await applyResponse(world.context, charge, reversed(charge));
  const found = await world.caseOf(charge, 'network_reversal');
  assert.deepEqual(await changes(() => world.resolve(found, 'acknowledge')), [0n, 0n, 0n, 0n]);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('a concurrent confirmation and reversal book the money once, whichever comes first', async () => {
  for (let round = 0; round < 12; round += 1) {
    const { charge, found, transactionId } = await mismatch(12_000n);
    await world.propose(found, round % 2 === 0 ? 'accept' : 'return');
    const [suspense] = await balances();
    const notification = reversed(charge, { transactionId, amountMinor: 12_000n });
    const [confirmed] = await Promise.allSettled([
      world.confirm(found),
      applyResponse(world.context, charge, notification),
    ]);
    const reversal = await world.caseOf(charge, 'network_reversal');
    await world.resolve(reversal, 'acknowledge');
    const [left, , , float] = await balances();
    assert.equal((suspense ?? 0n) - (left ?? 0n), 12_000n, `round ${round}: ${confirmed.status}`);
    assert.ok(float !== undefined);
    const out = (await world.movements(charge)).filter((movement) => movement.includes('→ float:rail-wave'));
    assert.equal(out.length, 1, `round ${round}: the money left the float once`);
    await world.verify();
  }
});

test('two cases of one attempt that are confirmed concurrently are both carried out', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { charge, found: one } = await mismatch(4_000n);
    const other = { transactionId: `T-rest-${charge.reference}`, amountMinor: 5_000n };
    await applyResponse(world.context, charge, succeeded(charge, other));
    const two = await world.caseOf(charge, 'amount_mismatch', other.transactionId);
    await world.propose(one, 'accept');
    await world.propose(two, round % 2 === 0 ? 'accept' : 'return');
    const moved = await changes(() => Promise.all([world.confirm(one), world.confirm(two)]));
    assert.equal(moved[0], -9_000n);
    const paid = await world.charge(charge);
    assert.deepEqual([paid.status, paid.review], ['completed', null]);
    assert.equal(paid.amountReceivedMinor, round % 2 === 0 ? 9_000n : 4_000n);
  }
});
