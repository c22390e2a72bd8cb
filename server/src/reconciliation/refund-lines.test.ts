import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCaseById, listCasesOfSubject } from '../cases/list-cases.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { PayoutResponse } from '../networks/contract.ts';
import type { StatementEntry } from '../networks/statement.ts';
import type { Charge } from '../payments/charge.ts';
import type { Refund } from '../refunds/refund.ts';
import { paidBack } from '../refunds/refund-world.corpus.ts';
import { refused } from '../transfers/transfer-world.corpus.ts';
import type { Difference } from './difference.ts';
import { createDifferenceResolvers } from './resolve-difference.ts';
import { createStatementWorld, lastLineOf, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let openingMinor = 0n;
const [awa, lamin] = ['01890000-0000-7000-8000-00000000000a', '01890000-0000-7000-8000-00000000000b'];

before(async () => {
  world = await createStatementWorld();
  const { payouts, refunds } = world.networks.wave;
  for (const operations of [payouts, refunds])
    Object.assign(operations?.capabilities ?? {}, { statementHasOwnIds: true });
});

after(async () => {
  await world.verify();
  await world.close();
});

/** A payment whose refund the network has accepted, and a statement that has both before the refund's success is known. */
async function refundOnStatementOnly(): Promise<{ charge: Charge; refund: Refund; day: string; line: string }> {
  const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
  const refund = await world.refundSent(charge);
  const at = world.clock.now();
  const day = utcDay(at);
  const { reference, networkTransactionId: transactionId } = charge;
  assert.ok(transactionId);
  const line = `R-${transactionId}`;
  const lines = [
    lineOf({ transactionId, at, reference }),
    lineOf({ kind: 'refund', transactionId: line, at, reference, originalTransactionId: `${reference}-refund` }),
    lastLineOf(day),
  ];
  await world.state(lines, openingMinor);
  openingMinor += lines.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  await world.clock.advance(dayMs);
  return { charge, refund, day, line };
}

/** What the network then reports by the refund's own id, which the session's id leads to. */
const reported = (charge: Charge, refund: Refund): PayoutResponse =>
  paidBack(refund, { transactionId: `${charge.reference}-refund` });

const foundOn = async (day: string): Promise<[string, string, string][]> =>
  (await world.differencesOf(day)).map((each) => [each.class, each.subjectId, each.state]);

async function book(difference: Difference | undefined): Promise<void> {
  assert.ok(difference?.caseId);
  const { caseId } = difference;
  const context = {
    ...world.context,
    resolvers: createDifferenceResolvers(world.context),
    isOperator: () => Promise.resolve(true),
  };
  assert.ok(await findCaseById(world.db, caseId));
  const proposed = { caseId, resolution: 'book', evidence: 'The statement of today.', reported: null };
  await proposeResolution(context, { ...proposed, operatorId: awa });
  await confirmResolution(context, { caseId, operatorId: lamin });
}

const float = () => world.balance('float:rail-wave');

test('the line of a refund whose success is not known yet is the refund’s, and agrees once it is', async () => {
  const before = await float();
  const { charge, refund, day } = await refundOnStatementOnly();
  await world.run(day);
  assert.deepEqual(await foundOn(day), [['missing_here', refund.id, 'open']]);
  await world.report(refund, reported(charge, refund));
  await world.run(day);
  assert.deepEqual(await foundOn(day), [['missing_here', refund.id, 'resolved']]);
  assert.equal(await float(), before);
});

test('a refund that two operators book from its line is not booked again by the network’s report', async () => {
  const before = await float();
  const { charge, refund, day, line } = await refundOnStatementOnly();
  await world.run(day);
  await book((await world.differencesOf(day))[0]);
  assert.equal((await world.transfer(refund)).networkTransactionId, line);
  await world.report(refund, reported(charge, refund));
  assert.equal(await float(), before);
  const { status, networkTransactionId } = await world.transfer(refund);
  assert.deepEqual([status, networkTransactionId], ['completed', `${charge.reference}-refund`]);
  await world.run(day);
  assert.deepEqual(await foundOn(day), [['missing_here', refund.id, 'resolved']]);
});

test('what the network has reported meanwhile cannot be booked from its line too', async () => {
  const before = await float();
  const { charge, refund, day } = await refundOnStatementOnly();
  await world.run(day);
  const [difference] = await world.differencesOf(day);
  await world.report(refund, reported(charge, refund));
  await assert.rejects(book(difference), /has reported the payout meanwhile/);
  assert.equal(await float(), before);
});

test('a refund that was made at the network itself is still a reversal of the payment', async () => {
  const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
  const at = world.clock.now();
  const day = utcDay(at);
  const { reference, networkTransactionId: transactionId } = charge;
  assert.ok(transactionId);
  const lines = [
    lineOf({ transactionId, at, reference }),
    lineOf({ kind: 'refund', transactionId: 'R-elsewhere', at, reference }),
    lastLineOf(day),
  ];
  await world.state(lines, openingMinor);
  openingMinor += lines.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  await world.clock.advance(dayMs);
  await world.run(day);
  assert.deepEqual(await foundOn(day), [['reversed', charge.id, 'open']]);
});

for (const isReported of [false, true]) {
  const when = isReported ? 'agrees once reported' : 'is booked as such';
  test(`the reversal by which a network refunds, which names the payment, is the refund’s and ${when}`, async () => {
    const { refunds } = world.networks.wave;
    Object.assign(refunds?.capabilities ?? {}, { reversesCollection: true });
    const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
    const refund = await world.refundSent(charge);
    if (isReported) await world.report(refund, reported(charge, refund));
    const before = await float();
    const { networkTransactionId: transactionId } = charge;
    assert.ok(transactionId);
    const at = world.clock.now();
    const day = utcDay(at);
    const back = { kind: 'collection_reversal', transactionId: `B-${transactionId}`, at } as const;
    const lines = [lineOf({ transactionId, at }), lineOf({ ...back, originalTransactionId: transactionId })];
    await world.state([...lines, lastLineOf(day)], openingMinor);
    await world.clock.advance(dayMs);
    await world.run(day);
    const differences = await world.differencesOf(day);
    assert.deepEqual(await foundOn(day), isReported ? [] : [['missing_here', refund.id, 'open']]);
    if (!isReported) await book(differences[0]);
    assert.equal(await float(), isReported ? before : before - 10_000n);
    Object.assign(refunds?.capabilities ?? {}, { reversesCollection: undefined });
  });
}

test('beside a refund by reversing, another reversal is booked once the refund has its own line', async () => {
  const { refunds } = world.networks.wave;
  const { partial } = refunds?.capabilities ?? {};
  Object.assign(refunds?.capabilities ?? {}, { reversesCollection: true, partial: true });
  const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
  const refund = await world.refundSent(charge, 4_000n);
  await world.report(refund, reported(charge, refund));
  const { networkTransactionId: transactionId } = charge;
  assert.ok(transactionId);
  const dayOf = async (backMinor: bigint, others: readonly StatementEntry[]): Promise<string> => {
    const at = world.clock.now();
    const own = { transactionId: `B-${backMinor}-${transactionId}`, grossMinor: backMinor, at };
    const back = lineOf({ kind: 'collection_reversal', originalTransactionId: transactionId, ...own });
    await world.state([...others, back, lastLineOf(utcDay(at))]);
    await world.clock.advance(dayMs);
    await world.run(utcDay(at));
    return utcDay(at);
  };
  const day = await dayOf(3_000n, [lineOf({ transactionId, at: world.clock.now() })]);
  const open = async () => (await world.differencesOf(day)).find(({ class: kind }) => kind === 'reversed');
  assert.equal((await open())?.subjectId, charge.id);
  await assert.rejects(book(await open()), /refunded it by reversing it/);
  await dayOf(4_000n, []);
  await book(await open());
  const cases = await listCasesOfSubject(world.db, charge.merchantId, charge.id);
  assert.deepEqual(
    cases.map(({ kind, amountMinor }) => [kind, amountMinor]),
    [['partial_reversal', 3_000n]],
  );
  Object.assign(refunds?.capabilities ?? {}, { reversesCollection: undefined, partial });
});

test('the network’s reversal of a payment whose refund had failed is the payment’s, not the refund’s', async () => {
  const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
  const refund = await world.refundSent(charge);
  await world.report(refund, refused);
  const at = world.clock.now();
  const day = utcDay(at);
  const { reference, networkTransactionId: transactionId } = charge;
  assert.ok(transactionId);
  const back = { transactionId: `B-${transactionId}`, at, originalTransactionId: transactionId } as const;
  const lines = [
    lineOf({ transactionId, at, reference }),
    lineOf({ kind: 'collection_reversal', ...back }),
    lastLineOf(day),
  ];
  await world.state(lines, openingMinor);
  openingMinor += lines.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  await world.clock.advance(dayMs);
  await world.run(day);
  assert.deepEqual(await foundOn(day), [['reversed', charge.id, 'open']]);
});

test('of equal parts of a payment, each refund that was sent has one line, the oldest first', async () => {
  const { refunds } = world.networks.wave;
  const partial = { partial: refunds?.capabilities.partial };
  Object.assign(refunds?.capabilities ?? {}, { partial: true });
  const charge = await world.collect({ network: 'wave', amountMinor: 10_000n });
  const [first, second] = [await world.refundSent(charge, 2_000n), await world.refundSent(charge, 2_000n)];
  // Accepted here, and not at the network yet.
  await world.refund(charge, 2_000n);
  Object.assign(refunds?.capabilities ?? {}, partial);
  const { reference, networkTransactionId: transactionId } = charge;
  assert.ok(transactionId);
  const days: string[] = [];
  for (const parts of [['one'], ['two', 'three']]) {
    const at = world.clock.now();
    const day = utcDay(at);
    days.push(day);
    const lines = [
      ...(days.length === 1 ? [lineOf({ transactionId, at, reference })] : []),
      ...parts.map((part, index) => {
        const own = { transactionId: `R-${part}`, at: addMs(at, index), reference };
        return lineOf({ kind: 'refund', ...own, grossMinor: 2_000n });
      }),
      lastLineOf(day),
    ];
    await world.state(lines, openingMinor);
    openingMinor += lines.reduce((sum, { netMinor }) => sum + netMinor, 0n);
    await world.clock.advance(dayMs);
    await world.run(day);
  }
  const [one, two] = [await foundOn(days[0] ?? ''), await foundOn(days[1] ?? '')];
  assert.deepEqual(one, [['missing_here', first.id, 'open']]);
  // The third was made at the network itself.
  const expected = [
    ['missing_here', second.id, 'open'],
    ['reversed', charge.id, 'open'],
  ];
  assert.deepEqual(two.toSorted(), expected);
});
