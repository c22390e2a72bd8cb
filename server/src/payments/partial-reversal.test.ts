import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import { AppError } from '../api/app-error.ts';
import { createSubAccount } from '../sub-accounts/manage-sub-accounts.ts';
import { newSubAccount } from '../sub-accounts/new-sub-account.corpus.ts';
import { applyResponse } from './apply-response.ts';
import { clawbackParts, type Charge } from './charge.ts';
import { chargeToWire } from './charge-wire.ts';
import { reversed, succeeded } from './payment-world.corpus.ts';
import { createResolveWorld, type ResolveWorld } from './resolve-world.corpus.ts';

let world: ResolveWorld;

before(async () => {
  world = await createResolveWorld();
});
afterEach(() => world.verify());
after(() => world.close());

/** A payment of 100.00 with a fee of 3.33 and a share of 20.00 to a sub-account of its own. */
async function paid(): Promise<{ charge: Charge; awa: string; transactionId: string }> {
  const owner = await world.setFee({ fixedMinor: 333n });
  await world.clock.advance(3_000);
  const caller = { merchantId: world.merchant.id, testMode: true };
  const { id: awa } = await world.db.withTransaction(async (tx) =>
    createSubAccount(tx, world.context, caller, { ...newSubAccount, percentHundredths: 2_000n }),
  );
  const paths = { subAccount: 'data.sub_account', group: 'data.sub_account_group' };
  const { charge } = await world.create({ split: { subAccountId: awa, groupId: null, paths } }, owner);
  const transactionId = `T-${charge.reference}`;
  await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
  return { charge, awa, transactionId };
}

/** The case of a part that the network reversed. */
async function partOf(charge: Charge, isMeant: (found: Case) => boolean): Promise<Case> {
  const cases = await listCasesOfSubject(world.db, charge.merchantId, charge.id);
  return cases.find((found) => found.kind === 'partial_reversal' && isMeant(found)) ?? assert.fail('no such case');
}

async function balancesOf(awa: string): Promise<bigint[]> {
  const accounts = ['fees', `sub:${awa}`, 'payable_available', `sub_owed:${awa}`] as const;
  return Promise.all(accounts.map((account) => world.balance(account)));
}

async function change(awa: string, work: () => Promise<void>): Promise<bigint[]> {
  const before = await balancesOf(awa);
  await work();
  return (await balancesOf(awa)).map((minor, index) => minor - (before[index] ?? 0n));
}

test('a partial reversal is charged back in proportion, with an event, and the last one exactly', async () => {
  const { charge, awa, transactionId } = await paid();
  const report = (amountMinor: bigint) =>
    applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor }));
  for (let time = 0; time < 2; time += 1) await report(4_000n);
  assert.deepEqual(await world.cases(charge), ['partial_reversal'], 'reported twice, it is one case');
  const first = await world.caseOf(charge, 'partial_reversal');
  assert.deepEqual(await world.possible(first), ['reversed', 'acknowledge']);
  const share = (await world.intent({ merchantId: charge.merchantId, id: charge.intentId })).shares[0]?.amountMinor;
  assert.equal(share, 1_900n);
  const part = { transactionId, amountMinor: 4_000n };
  assert.deepEqual(await change(awa, () => world.resolve(first, 'reversed', part)), [-133n, -760n, -3_107n, 0n]);
  const now = await world.charge(charge);
  assert.deepEqual([now.status, now.amountReversedMinor], ['completed', 4_000n]);
  const intent = await world.intent({ merchantId: charge.merchantId, id: charge.intentId });
  assert.equal(chargeToWire(world.context, world.merchant, intent, now)['amount_reversed'], 40);
  assert.deepEqual(await world.events(charge), ['charge.created', 'charge.succeeded', 'charge.reversed']);
  await report(6_000n);
  const second = await partOf(charge, (found) => found.amountMinor === 6_000n);
  const rest = { transactionId, amountMinor: 6_000n };
  assert.deepEqual(await change(awa, () => world.resolve(second, 'reversed', rest)), [-200n, -1_140n, -4_660n, 0n]);
  assert.equal((await world.charge(charge)).status, 'reversed');
});

test('parts of any size are charged back in amounts that add up to each part', async () => {
  const { charge } = await world.create();
  const shares = [300n, 400n].map((amountMinor) => ({ subAccountId: 'awa', percentHundredths: 5_000n, amountMinor }));
  const paidOf = { ...charge, feeMinor: 0n, amountPaidMinor: 700n };
  let amountReversedMinor = 0n;
  for (const reversedMinor of [150n, 150n, 100n, 50n, 250n]) {
    const parts = clawbackParts({ ...paidOf, amountReversedMinor }, shares, reversedMinor);
    const amounts = [parts.feeMinor, ...parts.shares.map(({ amountMinor }) => amountMinor), parts.merchantMinor];
    assert.equal(
      amounts.reduce((sum, minor) => sum + minor, 0n),
      reversedMinor,
    );
    assert.ok(
      amounts.every((minor) => minor >= 0n),
      `${String(amounts)} of ${reversedMinor}`,
    );
    amountReversedMinor += reversedMinor;
  }
});

test('a sub-account owes what it no longer has of a partial reversal, and the merchant advances it', async () => {
  const { charge, awa, transactionId } = await paid();
  await world.post({ debit: `sub:${awa}`, credit: 'float:rail-wave', amountMinor: 1_900n });
  const amountMinor = 5_000n;
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor }));
  const found = await world.caseOf(charge, 'partial_reversal');
  const resolve = () => world.resolve(found, 'reversed', { transactionId, amountMinor });
  assert.deepEqual(await change(awa, resolve), [-166n, 0n, -4_834n, 950n]);
});

test('a part of another transaction, or larger than what is left, cannot be booked', async () => {
  const { charge, transactionId } = await paid();
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor: 4_000n }));
  const found = await world.caseOf(charge, 'partial_reversal');
  for (const [reported, message] of [
    [{ transactionId: 'another', amountMinor: 4_000n }, /name that one/],
    [{ transactionId, amountMinor: 10_001n }, /Only GMD 100\.00 of this payment is left/],
  ] as const) {
    await world.propose(found, 'reversed', reported);
    await assert.rejects(world.confirm(found), (error) => error instanceof AppError && message.test(error.message));
  }
});

test('a partial reversal reported before the success is booked once the success is', async () => {
  const { charge } = await world.createSent();
  const transactionId = `T-${charge.reference}`;
  await applyResponse(world.context, charge, reversed(charge, { transactionId, amountMinor: 4_000n }));
  const found = await world.caseOf(charge, 'partial_reversal');
  assert.deepEqual(await world.possible(found), ['acknowledge']);
  await applyResponse(world.context, charge, succeeded(charge, { transactionId }));
  assert.equal((await world.charge(charge)).status, 'completed');
  await world.resolve(found, 'reversed', { transactionId, amountMinor: 4_000n });
  assert.equal((await world.charge(charge)).amountReversedMinor, 4_000n);
});

test('two equal parts with ids of their own open one case each, and both are booked', async () => {
  const { charge, transactionId } = await paid();
  const part = { transactionId, amountMinor: 4_000n };
  for (const reversalId of ['EV-1', 'EV-2', 'EV-1', 'EV-2']) {
    await applyResponse(world.context, charge, reversed(charge, part, { reversalId }));
  }
  assert.deepEqual(await world.cases(charge), ['partial_reversal', 'partial_reversal']);
  for (const reversalId of ['EV-1', 'EV-2']) {
    await world.resolve(await partOf(charge, ({ reference }) => reference === reversalId), 'reversed', part);
  }
  assert.equal((await world.charge(charge)).amountReversedMinor, 8_000n);
  assert.match(
    (await partOf(charge, ({ reference }) => reference === 'EV-2')).summary,
    /the same amount before, in case/,
  );
});

test('an equal part without an id is counted on its open case, and opens its own once that is resolved', async () => {
  const { charge, transactionId } = await paid();
  const part = { transactionId, amountMinor: 4_000n };
  const report = () => applyResponse(world.context, charge, reversed(charge, part));
  for (let time = 0; time < 3; time += 1) await report();
  const first = await partOf(charge, () => true);
  assert.equal(first.reportedAgain, 2n);
  assert.equal(world.logged.filter((line) => line.includes(first.id)).length, 1);
  await world.resolve(first, 'reversed', part);
  for (let time = 0; time < 2; time += 1) await report();
  const second = await partOf(charge, ({ id }) => id !== first.id);
  assert.deepEqual([second.status, second.reportedAgain], ['open', 1n]);
  assert.match(second.summary, new RegExp(`in case ${first.id}: ask it whether this is another`));
  assert.equal((await world.charge(charge)).amountReversedMinor, 4_000n, 'nothing is booked twice');
});
