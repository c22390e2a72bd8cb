import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCaseById, listCases, listCasesOfSubject } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import { previewResolution } from '../cases/preview-resolution.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import { dayMs, utcDay } from '../kit/clock.ts';
import type { StatementEntry } from '../networks/statement.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { refused, succeeded } from '../payments/payment-world.corpus.ts';
import { paidBack } from '../refunds/refund-world.corpus.ts';
import { acceptTransfer, newTransfer } from '../transfers/create-transfer.ts';
import type { Difference } from './difference.ts';
import type { ReconciledDay } from './reconciled-day.ts';
import { createDifferenceResolvers } from './resolve-difference.ts';
import { createStatementWorld, lastLineOf, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let made = 0;
let openingMinor = 50_000n;
const [awa, lamin] = ['01890000-0000-7000-8000-00000000000a', '01890000-0000-7000-8000-00000000000b'];

before(async () => {
  world = await createStatementWorld();
});

after(() => world.close());

const resolving = () => ({
  ...world.context,
  resolvers: [...createChargeResolvers(world.context), ...createDifferenceResolvers(world.context)],
  isOperator: () => Promise.resolve(true),
});

async function paidCharge(): Promise<{ charge: Charge; transactionId: string }> {
  made += 1;
  const transactionId = `C-${made}`;
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
  return { charge, transactionId };
}

/** Reconciles a day with these lines and moves to the next; returns the differences of the day. */
async function dayWith(
  lines: readonly StatementEntry[],
): Promise<{ day: string; result: ReconciledDay; differences: Difference[] }> {
  const day = utcDay(world.clock.now());
  const all = [...lines, lastLineOf(day)];
  await world.state(all, openingMinor);
  openingMinor += all.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  await world.clock.advance(dayMs);
  const result = await world.run(day);
  return { day, result, differences: await world.differencesOf(day) };
}

async function resolve(caseId: string, resolution: string, reported: ReportedMoney | null = null): Promise<void> {
  const proposed = { caseId, resolution, evidence: 'The network’s letter of today.', reported };
  await proposeResolution(resolving(), { ...proposed, operatorId: awa });
  await assert.rejects(confirmResolution(resolving(), { caseId, operatorId: awa }), /Another operator/);
  await confirmResolution(resolving(), { caseId, operatorId: lamin });
}

/** Two operators decide; what they are shown before is what happens. */
async function decide(difference: Difference | undefined, resolution: string): Promise<Record<string, bigint>> {
  assert.ok(difference?.caseId, 'the difference has a case');
  const { caseId } = difference;
  const found = await findCaseById(world.db, caseId);
  assert.ok(found);
  const shown = await previewResolution(resolving(), found, resolution);
  assert.ok(shown, 'the effect is shown');
  await resolve(caseId, resolution);
  return Object.fromEntries(shown.map(({ account, beforeMinor, afterMinor }) => [account, afterMinor - beforeMinor]));
}

/** After a decision the statement and the ledger agree, as far as the decision was about them. */
async function assertProved(): Promise<void> {
  const { differences, result } = await dayWith([]);
  assert.deepEqual(differences, []);
  assert.equal(result.unexplainedMinor, 0n);
  assert.equal(result.listedMinor, 0n);
  await world.verify();
}

test('a fee that differs is corrected by an entry against network_costs', async () => {
  const { charge, transactionId } = await paidCharge();
  const line = lineOf({ transactionId, at: world.clock.now(), feeMinor: 150n });
  const { differences } = await dayWith([line]);
  assert.deepEqual(
    differences.map((each) => [each.class, each.subjectId, each.oursMinor, each.theirsMinor]),
    [['fee', charge.id, 0n, 150n]],
  );
  assert.deepEqual(await decide(differences[0], 'correct'), { 'float:rail-wave': -150n, network_costs: 150n });
  await assertProved();
});

test('of two successes without stated fees, of which one was returned, no fee is taken for undone', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  const at = world.clock.now();
  const lines: StatementEntry[] = [];
  for (const transactionId of ['S-1', 'S-2']) {
    await applyResponse(world.context, charge, succeeded(charge, { transactionId, networkFeeMinor: 100n }));
    lines.push(lineOf({ transactionId, at, grossMinor: 9_900n, feeMinor: null }));
  }
  const second = (await listCases(world.db, null, 10_000, null)).find(({ subjectId }) => subjectId === charge.id);
  assert.ok(second);
  await resolve(second.id, 'return');
  const { differences } = await dayWith(lines);
  assert.deepEqual(
    differences.map((each) => each.class),
    ['missing_there'],
    'what went back may still come',
  );
  const back = { kind: 'collection_reversal', transactionId: 'S-3', originalTransactionId: 'S-2' } as const;
  await dayWith([lineOf({ ...back, at: world.clock.now(), feeMinor: null })]);
  await assertProved();
});

for (const isStated of [false, true]) {
  const what = isStated ? 'is other money once a statement has it' : 'pays its own payment after same_money';
  test(`an id that two operators had typed for the wrong payment ${what}`, async () => {
    const typed = `Y-${isStated ? 1 : 2}`;
    const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
    const { charge: other } = await world.create({ network: 'wave', amountMinor: 10_000n });
    const { merchantId, id: subjectId } = charge;
    const unknown = { merchantId, subjectType: 'charge', subjectId, kind: 'outcome_unknown', reference: '' } as const;
    const money = { amountMinor: 10_000n, currency: 'GMD', summary: 'No response for a day.' };
    await world.db.withTransaction((tx) => openCase(tx, world.context, { ...unknown, ...money }));
    const caseOf = async (kind: string) => {
      const cases = await listCasesOfSubject(world.db, merchantId, subjectId);
      return cases.find((each) => each.kind === kind)?.id ?? assert.fail(kind);
    };
    await resolve(await caseOf('outcome_unknown'), 'paid', { transactionId: typed, amountMinor: 10_000n });
    await applyResponse(world.context, charge, succeeded(charge, { transactionId: `${typed}-real` }));
    const at = world.clock.now();
    const lines = [lineOf({ transactionId: typed, at }), lineOf({ transactionId: `${typed}-real`, at })];
    if (isStated) {
      await dayWith(lines);
      await assert.rejects(resolve(await caseOf('second_success'), 'same_money'), /has Y-1 too/);
      await assertProved();
      return;
    }
    await resolve(await caseOf('second_success'), 'same_money');
    await applyResponse(world.context, other, succeeded(other, { transactionId: typed }));
    assert.equal((await world.charge(other)).status, 'completed');
    assert.deepEqual((await dayWith(lines)).differences, []);
    await assertProved();
  });
}

test('a line of a payment that had been given up books it late, without a person', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, refused);
  const line = lineOf({ transactionId: 'L-1', at: world.clock.now(), reference: charge.reference });
  const { differences } = await dayWith([line]);
  assert.deepEqual(
    differences.map((each) => [each.class, each.state, each.resolution, each.caseId]),
    [['missing_here', 'resolved', 'booked', null]],
  );
  const booked = await world.charge(charge);
  assert.deepEqual([booked.status, booked.late, booked.networkTransactionId], ['completed', true, 'L-1']);
  await assertProved();
});

test('a line of another amount never pays a payment; two operators book it to suspense', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  const line = lineOf({ transactionId: 'A-1', at: world.clock.now(), reference: charge.reference, grossMinor: 9_000n });
  const { differences } = await dayWith([line]);
  assert.deepEqual(
    differences.map((each) => [each.class, each.state]),
    [['amount', 'open']],
  );
  assert.notEqual((await world.charge(charge)).status, 'completed');
  assert.deepEqual(await decide(differences[0], 'book'), { 'float:rail-wave': 9_000n, suspense: 9_000n });
  assert.equal((await world.charge(charge)).review, 'amount_mismatch');
  await assertProved();
});

test('a payment that is not in the statement is taken back, and a reversal in it is booked', async () => {
  const missing = await paidCharge();
  const reversed = await paidCharge();
  const at = world.clock.now();
  const { differences } = await dayWith([
    lineOf({ transactionId: reversed.transactionId, at }),
    lineOf({ kind: 'collection_reversal', transactionId: 'R-1', originalTransactionId: reversed.transactionId, at }),
  ]);
  const of = (kind: string) => differences.find((each) => each.class === kind);
  assert.equal(differences.length, 2);
  for (const [kind, resolution, { charge }] of [
    ['missing_there', 'reverse', missing],
    ['reversed', 'book', reversed],
  ] as const) {
    const effect = { 'float:rail-wave': -10_000n, payable_available: -10_000n };
    assert.deepEqual(await decide(of(kind), resolution), effect);
    assert.equal((await world.charge(charge)).status, 'reversed');
  }
  await assertProved();
  assert.deepEqual(await world.differencesOf(null), [], 'what was decided is not open again');
});

test('money that nobody claims stands in unmatched until two operators say whose it is', async () => {
  const at = world.clock.now();
  const { differences } = await dayWith([
    lineOf({ transactionId: 'U-1', at }),
    lineOf({ transactionId: 'U-2', at, kind: 'fee', grossMinor: 500n }),
  ]);
  const [incoming, outgoing] = ['U-1', 'U-2'].map((name) => differences.find(({ summary }) => summary.includes(name)));
  assert.equal(incoming?.oursMinor, 10_000n);
  assert.deepEqual(await decide(incoming, 'own_money'), { unmatched: -10_000n, capital: 10_000n });
  assert.deepEqual(await decide(outgoing, 'cost'), { 'float:rail-wave': -500n, network_costs: 500n });
  await assertProved();
});

/** A transfer of 100.00 that the network has accepted, and what reports its success. */
async function sentTransfer(transactionId: string): Promise<() => Promise<void>> {
  const amountMinor = 10_000n;
  const request = { railAccount: 'rail-wave', network: 'wave', amountMinor, feeMinor: 0n, subAccountId: null } as const;
  const transfer = newTransfer(world.context, world.merchant, {
    ...{ ...request, kind: 'transfer', accountNumber: '7001234', accountCanonical: '+220877001234' },
    ...{ beneficiaryName: null, narration: null, callbackUrl: null, metadata: {} },
  });
  const sources = [{ account: 'payable_available', amountMinor }] as const;
  await world.db.withTransaction((tx) => acceptTransfer(tx, world.context, world.merchant, transfer, sources));
  await world.work();
  return () => world.report(transfer, paidBack(transfer, { transactionId }));
}

async function openCharge(transactionId: string): Promise<() => Promise<void>> {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  return async () => void (await applyResponse(world.context, charge, succeeded(charge, { transactionId })));
}

for (const [resolution, kind] of [
  ['keep', 'collection'],
  ['own_money', 'collection'],
  ['from_bank', 'collection'],
  ['cost', 'payout'],
  ['to_bank', 'payout'],
  ['acknowledge', 'payout'],
] as const) {
  test(`what two operators decided about a line (${resolution}) is booked back once its record is known`, async () => {
    const paid = await paidCharge();
    const transactionId = `K-${made}`;
    const succeed = await (kind === 'collection' ? openCharge(transactionId) : sentTransfer(transactionId));
    const at = world.clock.now();
    const lines = [lineOf({ transactionId: paid.transactionId, at }), lineOf({ transactionId, kind, at })];
    const { day, differences } = await dayWith(lines);
    await decide(differences[0], resolution);
    await dayWith([]);
    await succeed();
    const { result, differences: next } = await dayWith([]);
    assert.deepEqual([result.unexplainedMinor, next], [0n, []], 'no statement seems to lack the record');
    await assertProved();
    assert.equal((await world.run(day)).unexplainedMinor, 0n);
  });
}

test('a number and an amount only propose a payment, in either form of the number', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 7_700n, accountNumber: '7001234' });
  const at = world.clock.now();
  const line = lineOf({ transactionId: 'N-1', at, grossMinor: 7_700n, counterpartyNumber: '+220 7001234' });
  const { differences } = await dayWith([line]);
  assert.notEqual((await world.charge(charge)).status, 'completed');
  await decide(differences[0], 'belongs');
  assert.equal((await world.charge(charge)).networkTransactionId, 'N-1');
  await assertProved();
});

test('a payment that is known by now does not stop the run where other decisions have used up unmatched', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  const at = world.clock.now();
  const { day, differences } = await dayWith([
    lineOf({ transactionId: 'E-1', at }),
    lineOf({ transactionId: 'E-2', at, kind: 'payout' }),
  ]);
  const outgoing = differences.find(({ summary }) => summary.includes('E-2'));
  assert.deepEqual(await decide(outgoing, 'returned'), { 'float:rail-wave': -10_000n, unmatched: -10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'E-1' }));
  await world.run(day);
  const left = async () => (await world.differencesOf(day)).find(({ summary }) => summary.includes('E-1'));
  assert.equal((await left())?.state, 'open');
  assert.match(world.logged.join('\n'), /unmatched has too little/);
  const listed = ({ unexplainedMinor, listedMinor, differences: { unknown } }: ReconciledDay) => [
    ...[unexplainedMinor, listedMinor, unknown],
  ];
  // Its money is on the float twice, once in unmatched and once as the payment.
  const next = await dayWith([]);
  assert.deepEqual(listed(next.result), [0n, -10_000n, 1]);
  await dayWith([lineOf({ transactionId: 'E-3', at: world.clock.now() })]);
  // What E-3 has left in unmatched goes back for E-1 in the next run, which is after the end of its day.
  await dayWith([]);
  await assertProved();
  assert.equal((await left())?.state, 'resolved');
  // Also a day that is run again after the money went back.
  assert.deepEqual(listed(await world.run(next.day)).slice(0, 1), [0n]);
});

test('a payment whose money was returned from unmatched is missing there, and taken back once', async () => {
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  const at = world.clock.now();
  const { differences } = await dayWith([
    lineOf({ transactionId: 'F-1', at }),
    lineOf({ transactionId: 'F-2', at, kind: 'payout' }),
  ]);
  const of = (name: string) => differences.find(({ summary }) => summary.includes(name));
  await decide(of('F-1'), 'keep');
  await decide(of('F-2'), 'returned');
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: 'F-1' }));
  const [missing] = (await dayWith([])).differences;
  assert.deepEqual([missing?.class, missing?.subjectId], ['missing_there', charge.id]);
  const effect = { 'float:rail-wave': -10_000n, payable_available: -10_000n };
  assert.deepEqual(await decide(missing, 'reverse'), effect);
  // What somebody else has paid meanwhile is not the payment's.
  const { differences: later } = await dayWith([lineOf({ transactionId: 'F-3', at: world.clock.now() })]);
  await assertProved();
  assert.deepEqual(await decide(later[0], 'own_money'), { unmatched: -10_000n, capital: 10_000n });
  await assertProved();
});

test('a decision to leave a difference as it is stands until its amounts change', async () => {
  const { transactionId } = await paidCharge();
  const at = world.clock.now();
  const { day, differences } = await dayWith([lineOf({ transactionId, at, feeMinor: 20n })]);
  assert.deepEqual(await decide(differences[0], 'acknowledge'), {});
  await world.run(day);
  const [after] = await world.differencesOf(day);
  assert.deepEqual([after?.state, after?.resolution], ['resolved', 'acknowledge']);
  // The day of the decision, and one after it.
  for (const next of [await dayWith([]), await dayWith([])]) {
    assert.deepEqual([next.result.listedMinor, next.result.unexplainedMinor], [-20n, 0n], next.day);
    assert.deepEqual([next.result.differences.fee, next.differences], [undefined, []]);
  }
});

test('what was booked at midnight agrees once the next statement has it', async () => {
  await world.clock.advance(dayMs - (world.clock.now().getTime() % dayMs) - 2_000);
  const { charge, transactionId } = await paidCharge();
  const day = utcDay(world.clock.now());
  await world.state([lastLineOf(day)], openingMinor);
  const first = await world.run(day);
  assert.equal(first.inTransit, 1n);
  assert.equal((await world.differencesOf(day))[0]?.state, 'in_transit');
  await world.clock.advance(5_000);
  const { differences } = await dayWith([lineOf({ transactionId, at: world.clock.now(), feeMinor: null })]);
  assert.deepEqual(differences, []);
  const [after] = await world.differencesOf(day);
  assert.deepEqual([after?.subjectId, after?.state, after?.resolution], [charge.id, 'resolved', 'agrees']);
});
