import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { findCaseById } from '../cases/list-cases.ts';
import type { CaseResolver } from '../cases/resolution.ts';
import { confirmResolution, proposeResolution, type ResolveContext } from '../cases/resolve-case.ts';
import { dayMs, utcDay } from '../kit/clock.ts';
import type { ChangingNetworkRegistry } from '../networks/registry.ts';
import type { StatementEntry, StatementSource } from '../networks/statement.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { acceptTransfer, newTransfer } from '../transfers/create-transfer.ts';
import { paid, transactionOf } from '../transfers/transfer-world.corpus.ts';
import type { Transfer } from '../transfers/transfer.ts';
import { findStatementAccount, type StatementAccount } from './account.ts';
import { upsertDifference } from './queries/differences.ts';
import type { ReconciledDay } from './reconciled-day.ts';
import { createDifferenceResolvers } from './resolve-difference.ts';
import { runDay } from './run-day.ts';
import { createStatementWorld, lastLineOf, lineOf, type StatementWorld } from './statement-world.corpus.ts';

let world: StatementWorld;
let account: StatementAccount;
let made = 0;
let openingMinor = 50_000n;

before(async () => {
  world = await createStatementWorld();
  const statements: StatementSource = {
    hasUnreportedFees: true,
    read: async () => ({ state: 'page', lines: [], refusals: [], nextCursor: null }),
  };
  Object.assign(world.networks.wave, { statements });
  const again = Object.values(world.networks).map((connector) => ({ connector, rank: 0, isDisabled: false }));
  (world.context.networks as ChangingNetworkRegistry).replace(again);
  account = await findStatementAccount(world.context, 'wave');
});

after(() => world.close());

async function paidCharge(changes: Parameters<typeof succeeded>[1] = {}): Promise<{ charge: Charge; id: string }> {
  made += 1;
  const id = `C-${made}`;
  const { charge } = await world.create({ network: 'wave', amountMinor: 10_000n });
  await applyResponse(world.context, charge, succeeded(charge, { transactionId: id, ...changes }));
  return { charge, id };
}

/** The day's lines are imported, and the day ends. */
async function endDayWith(lines: readonly StatementEntry[]): Promise<string> {
  const day = utcDay(world.clock.now());
  const all = [...lines, lastLineOf(day)];
  await world.state(all, openingMinor);
  openingMinor += all.reduce((sum, { netMinor }) => sum + netMinor, 0n);
  await world.clock.advance(dayMs);
  return day;
}

const run = (day: string) => runDay(world.context, account, day);
const line = (transactionId: string, changes: Partial<StatementEntry> = {}) =>
  lineOf({ transactionId, at: world.clock.now(), ...changes });
const costs = () => world.balance('network_costs');
const shown = ({ matched, differences, listedMinor, unexplainedMinor }: ReconciledDay) => [
  ...[matched, differences, listedMinor, unexplainedMinor],
];

test('a fee that only the statement has is booked without a person, once, and each day is proved', async () => {
  const { id } = await paidCharge();
  const day = await endDayWith([line(id, { feeMinor: 150n })]);
  assert.deepEqual(shown(await run(day)), [1n, {}, -150n, 0n]);
  await Promise.all([run(day), run(day)]);
  assert.deepEqual(await world.differencesOf(day), []);
  assert.equal(await costs(), 150n);
  const next = await endDayWith([]);
  assert.deepEqual(shown(await run(next)), [0n, {}, 0n, 0n]);
  await world.verify();
});

test('days that are reconciled late are proved one by one', async () => {
  const before = await costs();
  const { id } = await paidCharge();
  const days = [await endDayWith([line(id, { feeMinor: 100n })]), await endDayWith([]), await endDayWith([])];
  for (const day of days) assert.deepEqual(shown(await run(day)).slice(1), [{}, -100n, 0n], day);
  assert.deepEqual(shown(await run(await endDayWith([]))), [0n, {}, 0n, 0n]);
  assert.equal(await costs(), before + 100n);
});

test('a fee that a later import corrects is corrected, and a reversal returns it', async () => {
  const before = await costs();
  const { charge, id } = await paidCharge();
  const day = await endDayWith([line(id, { feeMinor: 150n })]);
  await run(day);
  await applyResponse(world.context, charge, reversed(charge, { transactionId: id }));
  const back = { kind: 'collection_reversal', originalTransactionId: id, feeMinor: 150n } as const;
  const next = await endDayWith([line(`R-${id}`, back)]);
  assert.deepEqual(shown(await run(next)).slice(1), [{}, 150n, 0n]);
  assert.equal(await costs(), before);
});

test('another fee than was reported, or one that is no fee, is a difference for two operators', async () => {
  const before = await costs();
  const [reported, large] = [await paidCharge({ networkFeeMinor: 100n }), await paidCharge()];
  const day = await endDayWith([line(reported.id, { feeMinor: 150n }), line(large.id, { feeMinor: 1_001n })]);
  await run(day);
  const found = await world.differencesOf(day);
  const fees = [
    [reported.charge.id, 'fee', 'open', 100n, 150n],
    [large.charge.id, 'fee', 'open', 0n, 1_001n],
  ];
  assert.deepEqual(
    found.map((each) => [each.subjectId, each.class, each.state, each.oursMinor, each.theirsMinor]).toSorted(),
    fees.toSorted(),
  );
  assert.ok(found.every(({ caseId }) => caseId !== null));
  assert.equal(await costs(), before + 100n);
});

test('a smaller amount on a line that names no fee is booked by two operators only', async () => {
  const before = await costs();
  const { charge, id } = await paidCharge();
  const day = await endDayWith([line(id, { grossMinor: 9_900n, feeMinor: null })]);
  await run(day);
  assert.deepEqual(
    (await world.differencesOf(day)).map((each) => [each.subjectId, each.class, each.state, each.theirsMinor]),
    [[charge.id, 'fee', 'open', 100n]],
  );
  assert.equal(await costs(), before);
});

const resolvers = () => createDifferenceResolvers(world.context);
const evidence = 'The network’s letter of today.';

/** A fee whose correction one operator has proposed, before the account's fees were booked without them. */
async function proposedFee(): Promise<{ day: string; caseId: string; resolving: ResolveContext }> {
  const { charge, id } = await paidCharge();
  const day = await endDayWith([line(id, { feeMinor: 150n })]);
  await world.run(day);
  const found = (await world.differencesOf(day)).find(({ subjectId }) => subjectId === charge.id);
  assert.ok(found?.caseId);
  const { caseId } = found;
  const resolving = { ...world.context, resolvers: resolvers(), isOperator: () => Promise.resolve(true) };
  await propose(resolving, caseId, 'correct');
  return { day, caseId, resolving };
}

async function propose(resolving: ResolveContext, caseId: string, resolution: string): Promise<void> {
  const operatorId = world.context.newId();
  await proposeResolution(resolving, { caseId, resolution, evidence, reported: null, operatorId });
}

const confirm = (resolving: ResolveContext, caseId: string) =>
  confirmResolution(resolving, { caseId, operatorId: world.context.newId() });

const resolutionsOf = async (day: string) => (await world.differencesOf(day)).map(({ resolution }) => resolution);

test('a fee that two operators correct while a run books it is booked once', async () => {
  const before = await costs();
  const { day, caseId, resolving } = await proposedFee();
  const [isDecided, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const paused = resolvers().map((resolver): CaseResolver => ({
    ...resolver,
    prepare: async (...about) => {
      const carryOut = await resolver.prepare(...about);
      return async (...step) => {
        await carryOut(...step);
        isDecided.resolve();
        await mayCommit.promise;
      };
    },
  }));
  const decision = confirm({ ...resolving, resolvers: paused }, caseId);
  await isDecided.promise;
  const running = run(day);
  await eventually('the run waits for the decision', async () => (await countWaiting(world.db)) > 0);
  mayCommit.resolve();
  await Promise.all([decision, running]);
  assert.equal(await costs(), before + 150n);
  assert.deepEqual(await resolutionsOf(day), ['correct']);
});

test('a proposal for a fee that a run has booked meanwhile ends by acknowledging its case', async () => {
  const before = await costs();
  const { day, caseId, resolving } = await proposedFee();
  await run(day);
  await assert.rejects(confirm(resolving, caseId), /It agrees by now: acknowledge the case/);
  await propose(resolving, caseId, 'acknowledge');
  await confirm(resolving, caseId);
  assert.equal((await findCaseById(world.db, caseId))?.status, 'resolved');
  assert.deepEqual(await resolutionsOf(day), ['booked']);
  assert.equal(await costs(), before + 150n);
});

test('a fee that waits for two operators from before is booked, and one that they have left is not', async () => {
  const [waiting, left] = [await paidCharge(), await paidCharge()];
  const day = await endDayWith([line(waiting.id, { feeMinor: 150n }), line(left.id, { feeMinor: 150n })]);
  for (const [{ charge }, state] of [
    [waiting, 'open'],
    [left, 'resolved'],
  ] as const) {
    const now = world.clock.now();
    await upsertDifference(world.db, {
      ...{ railAccount: account.railAccount, id: world.context.newId(), class: 'fee', state, subjectType: 'charge' },
      ...{ subjectId: charge.id, merchantId: charge.merchantId, lineId: null, day, currency: 'GMD', summary: 'A fee.' },
      ...{ resolvedDay: state === 'open' ? null : day, resolution: state === 'open' ? null : 'acknowledge' },
      ...{ oursMinor: 0n, theirsMinor: 150n, caseId: null, createdAt: now, updatedAt: now },
    });
  }
  const before = await costs();
  await run(day);
  const states = (await world.differencesOf(day)).map(({ subjectId, resolution }) => [subjectId, resolution]);
  const expected = [
    [waiting.charge.id, 'booked'],
    [left.charge.id, 'acknowledge'],
  ];
  assert.deepEqual(states.toSorted(), expected.toSorted());
  assert.equal(await costs(), before + 150n);
});

async function paidTransfer(): Promise<{ transfer: Transfer; id: string }> {
  const transfer = newTransfer(world.context, world.merchant, {
    ...{ kind: 'transfer', railAccount: 'rail-wave', amountMinor: 5_000n, feeMinor: 0n, network: 'wave' },
    ...{ accountNumber: '7001234', accountCanonical: '+220877001234', beneficiaryName: null, narration: null },
    ...{ callbackUrl: null, metadata: {}, subAccountId: null },
  });
  const sources = [{ account: 'payable_available', amountMinor: 5_000n }] as const;
  await world.db.withTransaction((tx) => acceptTransfer(tx, world.context, world.merchant, transfer, sources));
  await world.work();
  const id = `T-${transfer.reference}`;
  await world.report(transfer, paid(transfer, { transactionId: id }));
  return { transfer, id };
}

test('a fee that was booked for a payout is no part of what its reversal returns', async () => {
  await paidCharge();
  const before = await costs();
  const { transfer, id } = await paidTransfer();
  const available = await world.balance('payable_available');
  await run(await endDayWith([line(id, { kind: 'payout', grossMinor: 5_000n, feeMinor: 50n })]));
  assert.equal(await costs(), before + 50n);
  await world.report(transfer, { state: 'reversed', providerTransaction: transactionOf(transfer) });
  assert.equal(await world.balance('payable_available'), available + 5_000n);
  await world.verify();
});

test('a fee that the network gives back with a refund makes the float larger', async () => {
  await paidCharge();
  const before = await costs();
  const { id } = await paidTransfer();
  const back = { kind: 'refund', grossMinor: 5_000n, feeMinor: 50n, netMinor: -4_950n } as const;
  await run(await endDayWith([line(id, back)]));
  assert.equal(await costs(), before - 50n);
  await world.verify();
});
