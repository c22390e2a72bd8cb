import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import type { CaseKind } from '../cases/case.ts';
import { confirmResolution, proposeResolution } from '../cases/resolve-case.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { seededRandom } from '../kit/random.ts';
import type { Account } from '../ledger/accounts.ts';
import { fromApi } from '../payments/create-payment.ts';
import { applyResponse } from '../payments/apply-response.ts';
import type { Charge } from '../payments/charge.ts';
import { expirePayments } from '../payments/expire-payments.ts';
import { refused, reversed, succeeded } from '../payments/payment-world.corpus.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import {
  createRefundWorld,
  paidBack,
  reversedPayout,
  splitWith,
  transactionOf,
  type RefundWorld,
} from '../refunds/refund-world.corpus.ts';
import { acceptTransfer } from '../transfers/create-transfer.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import { resetDailyFigures, rollUpFigures } from './daily-figures.ts';
import { addFigures, noFigures, type Figures } from './figures.ts';
import { readDays, readDaysOf, readHours } from './read-report.ts';
import { readTotals, type TotalsRow } from './read-totals.ts';
import { readRecords, type FigureName } from './read-records.ts';

const days = 9;
const stepsPerDay = 7;
const seed = 'figures 1';

let world: RefundWorld;
/** What each step should have counted, by the day of the step. */
const expected = new Map<string, Figures>();
/** Payments are made by the API, at one counter, or by one link. */
const [counterId, linkId] = ['01999999-0000-7000-8000-000000000001', '01999999-0000-7000-8000-000000000002'];
const collectedAt = new Map<string, bigint>();
/** The balances of `fees` and of all floats at the end of each day. */
const balances: { fees: bigint; float: bigint }[] = [{ fees: 0n, float: 0n }];

before(async () => {
  world = await createRefundWorld();
  await walk();
});
after(() => world.close());

function count(figures: Partial<Figures>): void {
  const day = utcDay(world.clock.now());
  expected.set(day, addFigures(expected.get(day) ?? noFigures, { ...noFigures, ...figures }));
}

/** Days of payments that succeed, fail, are refunded and reversed, and of payouts that arrive and come back. */
async function walk(): Promise<void> {
  const random = seededRandom(seed);
  const pick = (options: number): number => (random.bytes(1)[0] ?? 0) % options;
  const fee = { percentHundredths: 250n, fixedMinor: 0n, minimumMinor: 0n, maximumMinor: null };
  const owner = await world.setFee({ ...fee, payer: 'customer' });
  const subAccountId = await world.newSubAccount(30);
  const midnight = new Date(`${utcDay(addMs(world.clock.now(), dayMs))}T00:00:00Z`);
  const charges: Charge[] = [];
  for (let day = 0; day < days; day += 1) {
    for (let step = 0; step < stepsPerDay; step += 1) {
      // The first step is in the first moment of its day, the last in its last.
      const isLast = step === stepsPerDay - 1;
      const offsetMs = isLast ? dayMs - 1 : Math.floor((step * dayMs) / stepsPerDay);
      await world.clock.advance(midnight.getTime() + day * dayMs + offsetMs - world.clock.now().getTime());
      const amountMinor = BigInt(1 + pick(200)) * 100n;
      const isDirect = pick(5) === 0;
      const split = !isDirect && pick(2) === 0 ? splitWith({ subAccountId }) : null;
      const [terminalId = null, paymentLinkId = null] = [[counterId], [undefined, linkId], []][pick(3)] ?? [];
      const origin = { ...fromApi, terminalId, paymentLinkId };
      const network = pick(3) === 0 ? 'wave' : 'aps';
      const { charge } = await world.create({ network, amountMinor, split, origin }, owner);
      if (pick(4) === 0) {
        await applyResponse(world.context, charge, refused);
        await world.cancel(await world.intent({ merchantId: charge.merchantId, id: charge.intentId }));
        count({ unpaidCount: 1n });
        continue;
      }
      if (isDirect) {
        await receiveDirectly(charge, pick(3) === 0);
        continue;
      }
      await applyResponse(world.context, charge, succeeded(charge));
      count({ collectedMinor: charge.amountPaidMinor, collectedCount: 1n });
      const at = terminalId ?? paymentLinkId ?? 'api';
      collectedAt.set(at, (collectedAt.get(at) ?? 0n) + charge.amountPaidMinor);
      charges.push(charge);
      await follow(pick(6), charges, subAccountId);
    }
    const floats = Object.values(world.networks).map(
      ({ capabilities }): Account => `float:${capabilities.railAccount}`,
    );
    let float = 0n;
    for (const account of floats) float += await world.balance(account);
    balances.push({ fees: await world.balance('fees'), float });
  }
}

/** Straight to the merchant's own number; what a statement contradicts leaves again. */
async function receiveDirectly(charge: Charge, isContradicted: boolean): Promise<void> {
  const [text, values] = ['UPDATE charges SET received_directly = true WHERE id = $1', [charge.id]];
  await world.db.run({ name: 'test_received_directly', text, values });
  await applyResponse(world.context, charge, succeeded(charge));
  count({ directMinor: charge.amountPaidMinor, directCount: 1n });
  if (!isContradicted) return;
  await applyResponse(world.context, charge, reversed(charge));
  count({ directBackMinor: charge.amountPaidMinor });
}

async function follow(what: number, charges: Charge[], subAccountId: string): Promise<void> {
  const charge = charges.shift();
  if (!charge) return;
  if (what === 0) {
    await applyResponse(world.context, charge, reversed(charge));
    count({ reversedMinor: charge.amountPaidMinor });
  } else if (what < 3) {
    const refund = await world.refundReported(charge, paidBack);
    count({ refundedMinor: refund.amountMinor, refundedCount: 1n });
    if (what === 1) return;
    await world.report(refund, reversedPayout(refund));
    count({ returnedMinor: refund.amountMinor });
  } else if (what === 3) {
    const amountMinor = await world.balance(`sub:${subAccountId}`);
    if (amountMinor === 0n) return;
    await world.completePayout(subAccountId, amountMinor);
    count({ paidOutMinor: amountMinor, paidOutCount: 1n });
  }
}

function range() {
  const listed = [...expected.keys()].toSorted();
  return { from: listed[0] ?? '', to: listed.at(-1) ?? '' };
}

async function checkDays(): Promise<void> {
  const report = await readDays(world.db, world.merchant, range());
  assert.equal(report.slots.length, days);
  for (const [index, { slot, figures }] of report.slots.entries()) {
    const [earlier, later] = [balances[index], balances[index + 1]];
    assert.ok(earlier && later);
    const { feesMinor, ...others } = figures;
    const { feesMinor: _unknown, ...counted } = expected.get(utcDay(slot)) ?? noFigures;
    assert.deepEqual(others, counted, `${seed}: ${utcDay(slot)}`);
    assert.equal(feesMinor, later.fees - earlier.fees, `${seed}: fees of ${utcDay(slot)}`);
    const { collectedMinor, reversedMinor, paidOutMinor, refundedMinor, returnedMinor } = figures;
    const moved = collectedMinor - reversedMinor - paidOutMinor - refundedMinor + returnedMinor;
    assert.equal(moved, later.float - earlier.float, `${seed}: what the networks hold on ${utcDay(slot)}`);
  }
}

const everything = { network: null, terminalId: null, paymentLinkId: null };

const figureOf: Record<FigureName, (figures: Figures) => bigint> = {
  collected: ({ collectedMinor }) => collectedMinor,
  direct: ({ directMinor }) => directMinor,
  direct_back: ({ directBackMinor }) => directBackMinor,
  reversed: ({ reversedMinor }) => reversedMinor,
  paid_out: ({ paidOutMinor }) => paidOutMinor,
  refunded: ({ refundedMinor }) => refundedMinor,
  returned: ({ returnedMinor }) => returnedMinor,
  fees: ({ feesMinor }) => feesMinor,
  unpaid: ({ unpaidCount }) => unpaidCount,
};

it('agrees with what the ledger holds and with its lists, to the butut, on every day', async () => {
  await checkDays();
  const all = [...expected.values()].reduce(addFigures);
  for (const [figure, of] of Object.entries(figureOf)) if (figure !== 'fees') assert.ok(of(all) > 0n, `no ${figure}`);
  for (const { slot } of (await readDays(world.db, world.merchant, range())).slots) {
    const day = utcDay(slot);
    const { total } = await readHours(world.db, world.merchant, day);
    for (const [figure, of] of Object.entries(figureOf) as [FigureName, (figures: Figures) => bigint][]) {
      let [sum, cursor]: [bigint, string | null] = [0n, null];
      do {
        const page = { day, until: null, filter: everything, cursor, rowsMax: 2 };
        const list = await readRecords(world.db, world.merchant, figure, page);
        if (list.records.length > 0 && figure !== 'unpaid') assert.equal(list.totalMinor, of(total));
        for (const { amountMinor } of list.records) sum += figure === 'unpaid' ? 1n : amountMinor;
        cursor = list.nextCursor;
      } while (cursor !== null);
      assert.equal(sum, of(total), `${seed}: ${figure} of ${day}`);
    }
  }
});

it('is the same once days are rolled up, by two workers at once and again after a reset', async () => {
  const { db, clock, merchant, context } = world;
  const computed = await readDays(db, merchant, range());
  const stored = async () =>
    db.rows({ name: 'test_daily', text: 'SELECT * FROM daily_figures ORDER BY 1, 2, 3, 4', values: [] });
  // Ten minutes after midnight the last day is still open, an hour later it is not.
  for (const afterMs of [10 * 60_000, 60 * 60_000]) {
    await clock.advance(afterMs);
    await Promise.all([rollUpFigures(context), rollUpFigures(context)]);
    const report = await readDays(db, merchant, range());
    assert.deepEqual(report, computed);
    for (const [dimension, key] of [
      ['counter', counterId],
      ['link', linkId],
    ] as const) {
      const [part, ...others] = report.parts[dimension];
      assert.deepEqual([part?.key, part?.figures.collectedMinor, others], [key, collectedAt.get(key), []]);
    }
    await checkDays();
  }
  const rows = await stored();
  assert.ok(rows.length > days);
  assert.equal(await rollUpFigures(context), 0);
  assert.deepEqual(await stored(), rows);
  await db.withTransaction(async (tx) => resetDailyFigures(tx, merchant.id));
  assert.deepEqual(await readDays(db, merchant, range()), computed);
  await rollUpFigures(context);
  assert.deepEqual(await stored(), rows);
});

it('the totals of several merchants are their reports added up, rolled up, computed, and in between', async () => {
  const { db, merchant, context } = world;
  const other = { ...merchant, id: '01999999-0000-7000-8000-00000000000f' };
  const report = await readDays(db, merchant, range());
  const totalsBy = (keys: { byDay: boolean; byMerchant: boolean; byNetwork: boolean }, network: string | null = null) =>
    readTotals(db, [merchant, other], { range: range(), keys, network });
  const figuresOf = ({ day: _day, merchantId: _id, network: _network, ...figures }: TotalsRow): Figures => figures;
  const check = async (): Promise<void> => {
    const byDay = await totalsBy({ byDay: true, byMerchant: false, byNetwork: false });
    const sums = new Map(byDay.map((row) => [row.day, figuresOf(row)]));
    for (const { slot, figures } of report.slots) assert.deepEqual(sums.get(utcDay(slot)) ?? noFigures, figures);
    const byNetwork = await totalsBy({ byDay: false, byMerchant: false, byNetwork: true });
    assert.deepEqual(
      new Map(byNetwork.map((row) => [row.network, figuresOf(row)])),
      new Map(report.parts.network.map(({ key, figures }) => [key, figures])),
    );
    const all = await totalsBy({ byDay: true, byMerchant: true, byNetwork: true });
    assert.deepEqual(all.map(figuresOf).reduce(addFigures), report.total);
    assert.deepEqual(new Set(all.map(({ merchantId }) => merchantId)), new Set([merchant.id]));
    const [network = ''] = report.parts.network.map(({ key }) => key);
    const [ofNetwork] = await totalsBy({ byDay: false, byMerchant: true, byNetwork: false }, network);
    assert.deepEqual(ofNetwork && figuresOf(ofNetwork), report.parts.network[0]?.figures);
  };
  await check();
  await db.withTransaction(async (tx) => resetDailyFigures(tx, merchant.id));
  await check();
  // Some days are rolled up, the others not.
  const half = {
    name: 'test_half',
    text: `UPDATE daily_figure_progress SET next_day = next_day - 4 WHERE merchant_id = $1`,
    values: [merchant.id],
  };
  await rollUpFigures(context);
  await db.run(half);
  await db.run({
    name: 'test_forget',
    text: `DELETE FROM daily_figures WHERE merchant_id = $1 AND day >= (SELECT next_day FROM daily_figure_progress WHERE merchant_id = $1)`,
    values: [merchant.id],
  });
  await check();
});

it('has what ended unpaid after days in the totals, also of a merchant with nothing else', async () => {
  const { db, clock } = world;
  const quiet = await world.newMerchant();
  const { charge } = await world.create({ network: 'aps' }, quiet);
  await applyResponse(world.context, charge, refused);
  await clock.advance(6 * dayMs);
  assert.equal(await expirePayments(world.context), 1);
  const day = utcDay(clock.now());
  const report = await readDays(db, quiet, { from: day, to: day });
  assert.equal(report.total.unpaidCount, 1n);
  const keys = { byDay: false, byMerchant: false, byNetwork: false };
  const [totals] = await readTotals(db, [quiet], { range: { from: day, to: day }, keys, network: null });
  assert.equal(totals?.unpaidCount, 1n);
});

it('divides what was collected by network without a rest', async () => {
  const { db, merchant } = world;
  const { parts, slots } = await readDays(db, merchant, range());
  const days = await Promise.all(
    parts.network.map(({ key }) => readDaysOf(db, merchant, range(), { dimension: 'network', key })),
  );
  for (const [index, { figures }] of slots.entries()) {
    const sum = days.reduce((total, { slots: own }) => addFigures(total, own[index]?.figures ?? noFigures), noFigures);
    assert.deepEqual(sum, figures);
  }
});

/** Two operators resolve the case of this kind about a record. */
async function resolve({ id }: { id: string }, kind: CaseKind, resolution: string): Promise<void> {
  const found = (await listCases(world.db, 'open', 100, null)).find(
    (each) => each.subjectId === id && each.kind === kind,
  );
  assert.ok(found, kind);
  const resolvers = [...createChargeResolvers(world.context), ...createTransferResolvers(world.context)];
  const context = { ...world.context, resolvers, isOperator: () => Promise.resolve(true) };
  const [operatorId, other] = [world.context.newId(), world.context.newId()];
  const evidence = 'The network’s statement of that day.';
  await proposeResolution(context, { caseId: found.id, resolution, evidence, reported: null, operatorId });
  await confirmResolution(context, { caseId: found.id, operatorId: other });
}

/** The figures of a new day on which this happens. */
async function figuresOfDay(happens: () => Promise<unknown>): Promise<Figures> {
  await world.clock.advance(2 * dayMs);
  await happens();
  const day = utcDay(world.clock.now());
  return (await readDays(world.db, world.merchant, { from: day, to: day })).total;
}

it('has of an overpaid payout that came back what had been paid out, without the fee', async () => {
  const subAccountId = await world.newSubAccount(50);
  await world.collect({ amountMinor: 100_000n, split: splitWith({ subAccountId }) });
  const { db, context, merchant } = world;
  const payout = { ...world.newPayout(subAccountId, 10_000n), feeMinor: 300n };
  const sources = [
    { account: `sub:${subAccountId}` as const, amountMinor: 10_000n },
    { account: 'payable_available' as const, amountMinor: 300n },
  ];
  const { paidOutMinor, returnedMinor, feesMinor } = await figuresOfDay(async () => {
    await db.withTransaction((tx) => acceptTransfer(tx, context, merchant, payout, sources));
    await world.work();
    const providerTransaction = transactionOf(payout, { amountMinor: 12_000n });
    await world.report(payout, { state: 'succeeded', providerTransaction });
    await resolve(payout, 'amount_mismatch', 'accept');
    await world.report(payout, { state: 'reversed', providerTransaction });
  });
  assert.deepEqual([paidOutMinor, returnedMinor, feesMinor], [10_000n, 10_000n, 0n]);
  assert.equal(await world.balance('network_costs'), 0n);
});

it('has all of the money that was accepted, with the share of a sub-account that is no more', async () => {
  const subAccountId = await world.newSubAccount(50);
  const { charge } = await world.create({ network: 'aps', split: splitWith({ subAccountId }) });
  await applyResponse(world.context, charge, refused);
  await world.cancel(await world.intent({ merchantId: charge.merchantId, id: charge.intentId }));
  await world.asOwner('UPDATE sub_accounts SET deleted_at = now() WHERE id = $1', [subAccountId]);
  const { collectedMinor, collectedCount } = await figuresOfDay(async () => {
    await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 8_000n }));
    await resolve(charge, 'amount_mismatch', 'accept');
    await resolve(charge, 'share_without_owner', 'to_merchant');
  });
  assert.deepEqual([collectedMinor, collectedCount], [8_000n, 1n]);
});

it('counts a payment once whose shares become the merchant’s on several days', async () => {
  const { id: groupId, members } = await world.newGroup(50, 50);
  const { charge } = await world.create({ network: 'aps', split: splitWith({ groupId }) });
  await applyResponse(world.context, charge, refused);
  await world.cancel(await world.intent({ merchantId: charge.merchantId, id: charge.intentId }));
  await world.asOwner('UPDATE sub_accounts SET deleted_at = now() WHERE id = ANY ($1)', [members]);
  await applyResponse(world.context, charge, succeeded(charge, { amountMinor: 8_000n }));
  await resolve(charge, 'amount_mismatch', 'accept');
  const takeShare = () => figuresOfDay(() => resolve(charge, 'share_without_owner', 'to_merchant'));
  const [first, second] = [await takeShare(), await takeShare()];
  assert.equal(first.collectedMinor + second.collectedMinor, 8_000n);
  assert.deepEqual([first.collectedCount, second.collectedCount], [1n, 0n]);
});

it('has each record at the time of its own movement, whatever else moves for it on that day', async () => {
  await world.clock.advance(2 * dayMs);
  const paidAt = world.clock.now();
  const charge = await world.collect({ amountMinor: 10_000n });
  const newer = await world.collect({ amountMinor: 5_000n });
  await world.clock.advance(60_000);
  const reversal = reversed(charge, { transactionId: charge.networkTransactionId ?? '' });
  await applyResponse(world.context, charge, reversal);
  const timesOf = async (figure: FigureName) => {
    const page = { day: utcDay(paidAt), until: null, filter: everything, cursor: null, rowsMax: 10 };
    const { records } = await readRecords(world.db, world.merchant, figure, page);
    return records.map(({ id, at }) => [id, at]);
  };
  assert.deepEqual(await timesOf('collected'), [
    [newer.intentId, paidAt],
    [charge.intentId, paidAt],
  ]);
  assert.deepEqual(await timesOf('reversed'), [[charge.intentId, world.clock.now()]]);
});
