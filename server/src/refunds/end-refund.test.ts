import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import { AppError } from '../api/app-error.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import type { Refund } from './refund.ts';
import {
  reversedPayout,
  createRefundWorld,
  paidBack,
  partsOf,
  transactionOf,
  refused,
  splitWith,
  type RefundWorld,
} from './refund-world.corpus.ts';

let world: RefundWorld;

before(async () => {
  world = await createRefundWorld();
});

after(async () => {
  await world.verify();
  await world.close();
});

test('a refund that fails after a partial repayment cancels the debt and returns the repayment', async () => {
  const awa = await world.newSubAccount(20);
  const split = splitWith({ subAccountId: awa });
  const charge = await world.collect({ split });
  await world.completePayout(awa, 1_500n);
  const before = await world.balance('payable_available');
  const refund = await world.refundSent(charge);
  assert.deepEqual(partsOf(refund), ['sub: 2000 1500']);
  await world.collect({ amountMinor: 5_000n, split });
  assert.equal(await world.balance(`sub_owed:${awa}`), 500n);
  await world.report(refund, refused());
  assert.deepEqual(await world.balances('payable_available', 'due_from_subs', `sub_owed:${awa}`, `sub:${awa}`), {
    payable_available: before + 4_000n,
    due_from_subs: 0n,
    [`sub_owed:${awa}`]: 0n,
    [`sub:${awa}`]: 500n + 1_000n,
  });
  const failed = await world.found(refund);
  assert.deepEqual([failed.transferStatus, failed.failureCode, failed.parts], ['failed', 'account_blocked', []]);
  assert.deepEqual(await world.notes(charge), ['refund_requested', 'refund_failed']);
  assert.equal((await world.charge(charge)).amountRefundedMinor, 0n);
  await world.verify();
});

test('a refund returned by the network stops counting, restores all balances, and can be repeated', async () => {
  const awa = await world.newSubAccount(20);
  const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
  await world.completePayout(awa, 500n);
  const before = await world.balances('payable_available', `sub:${awa}`);
  const refund = await world.refundReported(charge, paidBack);
  await world.report(refund, reversedPayout(refund));
  assert.deepEqual(await world.balances('payable_available', `sub_owed:${awa}`, `sub:${awa}`), {
    ...before,
    [`sub_owed:${awa}`]: 0n,
  });
  const open = await world.charge(charge);
  assert.deepEqual([open.status, open.amountRefundedMinor], ['completed', 0n]);
  assert.deepEqual((await world.events(charge)).slice(-2), ['charge.refunded', 'charge.refunded']);
  assert.deepEqual(await world.cases({ ...charge, id: refund.id }), ['network_reversal']);
  await world.refundReported(charge, paidBack);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.verify();
});

test('a reversal of a partly refunded payment is charged to the merchant, also during the refund', async () => {
  for (const isDone of [true, false]) {
    const awa = await world.newSubAccount(20);
    const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
    const refund = await world.refundSent(charge, 5_000n);
    if (isDone) await world.report(refund, paidBack(refund));
    const before = await world.balances('payable_available', `sub:${awa}`);
    await applyResponse(world.context, charge, reversed(charge, { transactionId: charge.networkTransactionId ?? '' }));
    assert.deepEqual(await world.balances('payable_available', `sub:${awa}`), {
      payable_available: before.payable_available - 10_000n,
      [`sub:${awa}`]: 1_000n,
    });
    if (!isDone) await world.report(refund, paidBack(refund));
    const ended = await world.charge(charge);
    assert.deepEqual([ended.status, ended.amountRefundedMinor], ['reversed', 5_000n]);
    await assert.rejects(
      world.refund(charge),
      (error) => error instanceof AppError && /has reversed this payment/.test(error.message),
    );
    await world.verify();
  }
});

test('a reversal of a fully refunded payment is charged to the merchant, with a case', async () => {
  const charge = await world.collect();
  await world.refundReported(charge, paidBack);
  const before = await world.balance('payable_available');
  await applyResponse(world.context, charge, reversed(charge, { transactionId: charge.networkTransactionId ?? '' }));
  assert.equal(await world.balance('payable_available'), before - 10_000n);
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.deepEqual(await world.cases(charge), ['network_reversal']);
});

test('a reversal that is the network’s own refund takes the money back once, and a person looks at a part', async () => {
  const capabilities: { reversesCollection?: true } = world.networks.aps.refunds?.capabilities ?? {};
  capabilities.reversesCollection = true;
  for (const isDone of [true, false]) {
    const charge = await world.collect();
    const refund = await world.refundSent(charge);
    if (isDone) await world.report(refund, paidBack(refund));
    const before = await world.balance('payable_available');
    const report = reversed(charge, { transactionId: charge.networkTransactionId ?? '' });
    await applyResponse(world.context, charge, report);
    if (!isDone) await world.report(refund, paidBack(refund));
    assert.equal(await world.balance('payable_available'), before);
    assert.equal((await world.charge(charge)).status, 'refunded');
    assert.deepEqual(await world.cases(charge), []);
  }
  const charge = await world.collect();
  await world.refundReported(charge, paidBack, 4_000n);
  const before = await world.balance('payable_available');
  await applyResponse(world.context, charge, reversed(charge, { transactionId: charge.networkTransactionId ?? '' }));
  assert.equal(await world.balance('payable_available'), before);
  assert.deepEqual(await world.cases(charge), ['partial_reversal']);
  const unrefunded = await world.collect();
  await world.refundReported(unrefunded, refused);
  await applyResponse(
    world.context,
    unrefunded,
    reversed(unrefunded, { transactionId: unrefunded.networkTransactionId ?? '' }),
  );
  assert.equal(
    (await world.charge(unrefunded)).status,
    'reversed',
    'what was not refunded was reversed by the network',
  );
  delete capabilities.reversesCollection;
  await world.verify();
});

test('a reversal taken for a refund is booked once that refund fails, and not where it is paid late', async () => {
  const { refunds, responses } = world.networks.aps;
  const capabilities: { reversesCollection?: true } = refunds?.capabilities ?? {};
  capabilities.reversesCollection = true;
  const lookUp = responses.look_up;
  const [charge, paidLate] = [await world.collect(), await world.collect()];
  const reversalOf = (each: Charge) => reversed(each, { transactionId: each.networkTransactionId ?? '' });
  responses.look_up = reversalOf(charge);
  const before = await world.balance('payable_available');
  const refund = await world.refundSent(charge);
  await applyResponse(world.context, charge, reversalOf(charge));
  assert.equal((await world.charge(charge)).status, 'completed');
  await world.report(refund, refused());
  assert.ok((await world.work()).includes('recheck_charge'));
  assert.equal((await world.charge(charge)).status, 'reversed');
  assert.equal(await world.balance('payable_available'), before - 10_000n);
  const late = await world.refundReported(paidLate, refused);
  await world.report(late, paidBack(late));
  await applyResponse(world.context, paidLate, reversalOf(paidLate));
  assert.equal(await world.balance('payable_available'), before - 20_000n, 'it left once');
  assert.deepEqual(await world.cases(paidLate), []);
  delete capabilities.reversesCollection;
  responses.look_up = lookUp;
  await world.work();
  await world.verify();
});

test('a concurrent refund and reversal of a payment end the same way, whichever is first', async () => {
  for (let round = 0; round < 4; round += 1) {
    const charge = await world.collect();
    const transactionId = charge.networkTransactionId ?? '';
    await world.openConnections();
    await Promise.allSettled([
      applyResponse(world.context, charge, reversed(charge, { transactionId })),
      world.refund(charge),
    ]);
    assert.equal((await world.charge(charge)).status, 'reversed');
    await world.verify();
  }
  await world.work();
});

test('a refund paid after it failed is the merchant’s cost, and counts once a person confirms it', async () => {
  const awa = await world.newSubAccount(20);
  const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
  const refund = await world.refundReported(charge, refused, 5_000n);
  const before = await world.balance('payable_available');
  await world.report(refund, paidBack(refund));
  assert.equal(await world.balance('payable_available'), before - 5_000n);
  assert.equal((await world.charge(charge)).amountRefundedMinor, 0n);
  const found = (await listCases(world.db, null, 10_000, null)).find(({ subjectId }) => subjectId === refund.id);
  assert.equal(found?.kind, 'late_success');
  const resolver = createTransferResolvers(world.context).find(
    ({ kind, resolution }) => kind === 'late_success' && resolution === 'accept',
  );
  assert.ok(found && resolver);
  const resolve = await resolver.prepare(found, null);
  await world.db.withTransaction((tx) => resolve(tx, { id: found.id, by: 'test' } as never));
  const counted = await world.charge(charge);
  assert.deepEqual([counted.status, counted.amountRefundedMinor], ['completed', 5_000n]);
  assert.equal((await world.events(charge)).at(-1), 'charge.refunded');
  const rest = await world.refundReported(charge, paidBack);
  assert.deepEqual(partsOf(rest), ['sub: 2000 0'], 'the share makes up for what the merchant gave');
  assert.equal(await world.balance('payable_available'), before - 5_000n - 3_000n);
  await world.verify();
});

test('what was paid late is not refunded again before a person has decided', async () => {
  const charge = await world.collect();
  const refund = await world.refundReported(charge, refused);
  await world.report(refund, paidBack(refund));
  await assert.rejects(
    world.refund(charge),
    (error) => error instanceof AppError && error.code === 'refund_not_possible',
  );
  await resolve(await openCase(refund, 'late_success'), 'recovered');
  await world.refundReported(charge, paidBack);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.verify();
});

test('a reversed part of a refund returns to each party in proportion, and can be refunded again', async () => {
  const awa = await world.newSubAccount(20);
  const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
  await world.completePayout(awa, 1_000n);
  const refund = await world.refundReported(charge, paidBack);
  assert.deepEqual(partsOf(refund), ['sub: 2000 1000']);
  const own = () => world.balances('payable_available', `sub_owed:${awa}`, `sub:${awa}`);
  const before = await own();
  const reversePart = async (amountMinor: bigint) => {
    await world.report(refund, { state: 'reversed', providerTransaction: transactionOf(refund, { amountMinor }) });
    const reported = { transactionId: transactionOf(refund).transactionId, amountMinor };
    const cases = await listCases(world.db, 'open', 1_000, null);
    const found = cases.find(({ subjectId, kind }) => subjectId === refund.id && kind === 'partial_reversal');
    assert.ok(found);
    await resolve(found, 'reversed', reported);
  };
  await reversePart(4_000n);
  // Of its 800, half is no longer owed; the other half is its own, and repays what it owes for the rest.
  assert.deepEqual(await own(), {
    payable_available: before.payable_available + 4_000n,
    [`sub_owed:${awa}`]: 200n,
    [`sub:${awa}`]: 0n,
  });
  const open = await world.charge(charge);
  assert.deepEqual([open.status, open.amountRefundedMinor], ['completed', 6_000n]);
  assert.deepEqual(partsOf(await world.found(refund)), ['sub: 1200 600']);
  await reversePart(6_000n);
  assert.deepEqual(await own(), {
    payable_available: before.payable_available + 10_000n - 1_000n,
    [`sub_owed:${awa}`]: 0n,
    [`sub:${awa}`]: 1_000n,
  });
  assert.equal((await world.charge(charge)).amountRefundedMinor, 0n);
  await world.refundReported(charge, paidBack);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.verify();
});

test('what a network did not pay of a refund returns to each party and can be refunded again', async () => {
  const awa = await world.newSubAccount(20);
  const charge = await world.collect({ split: splitWith({ subAccountId: awa }) });
  await world.completePayout(awa, 1_000n);
  const own = () => world.balances('payable_available', `sub_owed:${awa}`, `sub:${awa}`);
  const before = await own();
  const refund = await world.refundSent(charge);
  assert.deepEqual(partsOf(refund), ['sub: 2000 1000']);
  await world.report(refund, paidBack(refund, { amountMinor: 6_000n }));
  await resolve(await openCase(refund, 'amount_mismatch'), 'accept');
  const [open, found] = [await world.charge(charge), await world.found(refund)];
  assert.deepEqual([open.status, open.amountRefundedMinor], ['completed', 6_000n]);
  assert.deepEqual(
    [found.transferStatus, found.amountReversedMinor, partsOf(found)],
    ['completed', 4_000n, ['sub: 1200 600']],
  );
  assert.equal((await world.events(charge)).filter((kind) => kind === 'charge.refunded').length, 1);
  // Of its 800, half is no longer owed; the other half is its own, and repays what it owes for the rest.
  assert.deepEqual(await own(), {
    payable_available: before.payable_available - 5_000n,
    [`sub_owed:${awa}`]: 200n,
    [`sub:${awa}`]: 0n,
  });
  await world.verify();
  await world.report(refund, {
    state: 'reversed',
    providerTransaction: transactionOf(refund, { amountMinor: 6_000n }),
  });
  assert.equal((await world.charge(charge)).amountRefundedMinor, 0n);
  assert.deepEqual(await own(), { ...before, [`sub_owed:${awa}`]: 0n });
  await world.refundReported(charge, paidBack);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.verify();
});

test('a refund paid late with less than its amount counts with what was paid', async () => {
  const charge = await world.collect();
  const refund = await world.refundReported(charge, refused);
  await world.report(refund, paidBack(refund, { amountMinor: 6_000n }));
  await resolve(await openCase(refund, 'late_success'), 'accept');
  const open = await world.charge(charge);
  assert.deepEqual([open.status, open.amountRefundedMinor], ['completed', 6_000n]);
  const rest = await world.refundReported(charge, paidBack);
  assert.equal(rest.amountMinor, 4_000n);
  assert.equal((await world.charge(charge)).status, 'refunded');
  await world.verify();
});

test('a payment counts as refunded once reversals and refunds together leave nothing of it', async () => {
  const charge = await world.collect();
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: `again-${charge.id}` }));
  await resolve(await openCase(charge, 'second_success'), 'accept');
  await world.refundReported(charge, paidBack, 15_000n);
  const first = charge.networkTransactionId ?? '';
  await applyResponse(world.context, charge, reversed(charge, { transactionId: first }));
  const left = await world.charge(charge);
  assert.deepEqual([left.status, left.amountReceivedMinor, left.amountRefundedMinor], ['refunded', 10_000n, 15_000n]);
  const refundedEvents = (await world.events(charge)).filter((kind) => kind === 'charge.refunded');
  assert.equal(refundedEvents.length, 2, 'of the refund, and of the change that it was whole');
  await world.verify();
});

async function openCase({ id }: Pick<Refund, 'id'>, kind: Case['kind']): Promise<Case> {
  const found = (await listCases(world.db, 'open', 1_000, null)).find(
    (one) => one.subjectId === id && one.kind === kind,
  );
  assert.ok(found);
  return found;
}

/** Two operators resolve a case. */
async function resolve({ id: caseId }: Case, resolution: string, reported: ReportedMoney | null = null): Promise<void> {
  const resolvers = [...createTransferResolvers(world.context), ...createChargeResolvers(world.context)];
  const context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
  const [operatorId, other] = [world.context.newId(), world.context.newId()];
  const evidence = 'The network’s statement of 22 November.';
  await proposeResolution(context, { caseId, resolution, evidence, reported, operatorId });
  await confirmResolution(context, { caseId, operatorId: other });
}
