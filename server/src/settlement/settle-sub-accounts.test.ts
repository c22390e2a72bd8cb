import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { effort } from '../../../test/harness/effort.ts';
import { AppError } from '../api/app-error.ts';
import type { Database } from '../kit/db.ts';
import { setPayoutSchedule } from '../merchants/payout-schedule.ts';
import type { SubAccount } from '../sub-accounts/sub-account.ts';
import type { TransferContext } from '../transfers/context.ts';
import { listDueSettlements, settleScheduled } from './scheduled-payouts.ts';
import { settleSubAccounts } from './settle-sub-accounts.ts';
import { createSettlementWorld, today, type SettlementWorld } from './settlement-world.corpus.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const running = new AbortController().signal;

let world: SettlementWorld;

before(async () => {
  world = await createSettlementWorld();
});
afterEach(() => world.verify());
after(() => world.close());

async function several(count: number, minor = 1_500n): Promise<SubAccount[]> {
  const made: SubAccount[] = [];
  for (let index = 0; index < count; index += 1) made.push(await world.subAccount(minor));
  return made;
}

async function paidOut(subAccounts: readonly SubAccount[]): Promise<number[]> {
  const counts = new Set<number>();
  for (const subAccount of subAccounts) counts.add((await world.payoutsOf(subAccount)).length);
  return [...counts];
}

describe('settling a period', () => {
  test('pays out every settled balance of at least 10 GMD, and no other', async () => {
    const [rich, poor, waiting] = [
      await world.subAccount(1_000n),
      await world.subAccount(999n),
      await world.subAccount(),
    ];
    await world.credit(waiting, 9_000n, ':pending');
    const totals = await world.settle();
    assert.deepEqual(
      { payouts: totals.payouts, amountMinor: totals.amountMinor, refused: totals.refused, failed: totals.failed },
      { payouts: 1, amountMinor: 1_000n, refused: 0, failed: 0 },
    );
    assert.deepEqual(
      (await world.payoutsOf(rich)).map(({ amountMinor }) => amountMinor),
      [1_000n],
    );
    assert.deepEqual([...(await world.payoutsOf(poor)), ...(await world.payoutsOf(waiting))], []);
    assert.deepEqual(await world.periodsOf(rich), [`${today} paid`]);
    assert.deepEqual(await world.periodsOf(poor), []);
  });

  test('pays each sub-account once, however often it is repeated, and again in the next period', async () => {
    const subAccount = await world.subAccount(2_000n);
    await world.settle();
    await world.credit(subAccount, 3_000n);
    await world.settle();
    assert.equal((await world.payoutsOf(subAccount)).length, 1, 'what came later waits for the next period');
    assert.equal(await world.settled(subAccount), 3_000n);
    await world.settle({ period: '2026-11-21' });
    assert.equal((await world.payoutsOf(subAccount)).length, 2);
  });

  test('pays out a paused sub-account too', async () => {
    const subAccount = await world.subAccount(2_000n);
    await world.db.run({
      name: 'test_pause',
      text: 'UPDATE sub_accounts SET active = false WHERE merchant_id = $1 AND id = $2',
      values: [world.merchant.id, subAccount.id],
    });
    await world.settle();
    assert.equal((await world.payoutsOf(subAccount)).length, 1);
  });

  test('by several concurrent workers pays each sub-account once', async () => {
    for (let round = 0; round < effort({ usual: 1, long: 5 }); round += 1) {
      const subAccounts = await several(130);
      const totals = await Promise.all([world.settle(), world.settle(), world.settle()]);
      assert.deepEqual(await paidOut(subAccounts), [1]);
      assert.equal(
        totals.reduce((sum, { payouts }) => sum + payouts, 0),
        130,
        'each payout is counted by the worker that ordered it',
      );
      assert.ok(totals.every(({ failed }) => failed === 0));
    }
  });

  test('concurrent with payouts over the API spends no money twice', async () => {
    const subAccounts = await several(60);
    const [totals, ...calls] = await Promise.all([
      world.settle(),
      ...subAccounts.map((subAccount) => world.orderPayout(subAccount).catch(() => null)),
    ]);
    const called = calls.filter((payout) => payout !== null).length;
    assert.equal(totals.payouts + called, 60);
    assert.equal(totals.failed, 0);
    assert.deepEqual(await paidOut(subAccounts), [1]);
  });

  test('resumes after a crash, and pays nothing twice', async () => {
    const subAccounts = await several(250);
    const dying: TransferContext = { ...world.context, db: dyingAfter(world.db, 1) };
    const run = { merchant: world.merchant, period: today, retriesRefused: false };
    await assert.rejects(settleSubAccounts(dying, run), /is gone/);
    assert.deepEqual((await paidOut(subAccounts)).toSorted(), [0, 1], 'it died in the middle');
    const totals = await world.settle();
    assert.ok(totals.payouts >= 50 && totals.payouts <= 200, `the rest was left: ${totals.payouts}`);
    assert.deepEqual(await paidOut(subAccounts), [1]);
  });

  test('stops after the batches in progress on a signal', async () => {
    const subAccounts = await several(5);
    const stop = new AbortController();
    stop.abort();
    assert.equal((await world.settle({ stopped: stop.signal })).payouts, 0);
    assert.equal((await world.settle()).payouts, 5);
    assert.deepEqual(await paidOut(subAccounts), [1]);
  });
});

/** Some transactions are committed; from then on each one ends, with all its statements sent, before it is. */
function dyingAfter(db: Database, commits: number): Database {
  let left = commits;
  return {
    rows: (statement) => db.rows(statement),
    row: (statement) => db.row(statement),
    run: (statement) => db.run(statement),
    dedicatedClient: () => db.dedicatedClient(),
    close: () => db.close(),
    waiting: 0,
    withTransaction: (body) => {
      left -= 1;
      const isLast = left < 0;
      return db.withTransaction(async (tx) => {
        const result = await body(tx);
        if (isLast) throw new AppError('unavailable', 'The process is gone.');
        return result;
      });
    },
  };
}

/** Nothing can be made any more. */
function withoutIds(context: TransferContext): TransferContext {
  const newId = (): string => {
    throw new Error('there are no ids');
  };
  return { ...context, newId };
}

describe('a sub-account that cannot be paid out', () => {
  test('is recorded and stops no other; the next period and a manual run in the same retry it', async () => {
    const unallocated = await world.subAccount(2_000n);
    const other = await world.subAccount(2_000n);
    const setNetwork = (code: string): Promise<number> =>
      world.db.run({
        name: 'test_settlement_code',
        text: 'UPDATE sub_accounts SET settlement_code = $3 WHERE merchant_id = $1 AND id = $2',
        values: [world.merchant.id, unallocated.id, code],
      });
    await setNetwork('gone');
    const totals = await world.settle();
    assert.deepEqual([totals.payouts, totals.refused, totals.failed], [1, 1, 0]);
    assert.deepEqual(await world.periodsOf(unallocated), [`${today} network_not_available`]);
    assert.equal((await world.payoutsOf(other)).length, 1);
    assert.equal(await world.settled(unallocated), 2_000n);
    await setNetwork('wave');
    assert.equal((await world.settle()).payouts, 0, 'the schedule does not try again before the next period');
    assert.equal((await world.settle({ retriesRefused: true })).payouts, 1);
    assert.deepEqual(await world.periodsOf(unallocated), [`${today} paid`]);
    assert.equal((await world.settle({ retriesRefused: true })).payouts, 0);
  });

  test('because of its fee leaves the merchant’s money to as many as it covers', async () => {
    const costly = await createSettlementWorld({ feeMinor: 1_000n });
    try {
      const made = [];
      for (let index = 0; index < 5; index += 1) made.push(await costly.subAccount(2_000n));
      const keep = 2_500n;
      const amountMinor = (await costly.balance('payable_available')) - keep;
      await costly.db.withTransaction((tx) =>
        costly.postIn(tx, costly.merchant, [{ debit: 'payable_available', credit: 'float:rail-wave', amountMinor }]),
      );
      const totals = await costly.settle();
      assert.deepEqual([totals.payouts, totals.refused, totals.failed], [2, 3, 0]);
      assert.equal(await costly.balance('payable_available'), 500n);
      const notes = await Promise.all(made.map((subAccount) => costly.periodsOf(subAccount)));
      assert.equal(notes.filter(([note]) => note === `${today} insufficient_balance`).length, 3);
      await costly.verify();
    } finally {
      await costly.close();
    }
  });

  test('because its network accepts no payouts waits alone: the others are paid', async () => {
    const slow = await world.subAccount(2_000n, { settlementCode: 'qmoney' });
    const quick = await world.subAccount(2_000n);
    const { payoutResponses } = world.networks.qmoney;
    const usual = payoutResponses.pay_out;
    payoutResponses.pay_out = { state: 'not_accepted', reason: 'network_unavailable' };
    await world.settle();
    await world.work();
    payoutResponses.pay_out = usual;
    const [[held], [sent]] = [await world.payoutsOf(slow), await world.payoutsOf(quick)];
    assert.equal(held?.status, 'pending');
    assert.equal(sent?.status, 'completed');
    await world.workFor(5 * 60_000, 5_000);
    assert.equal((await world.payoutsOf(slow))[0]?.status, 'completed');
  });
});

describe('the payout schedule', () => {
  before(async () => {
    await world.close();
    world = await createSettlementWorld();
  });

  const settleDue = async (): Promise<string[]> => {
    const due = await listDueSettlements(world.context);
    for (const merchantId of due) await settleScheduled(world.context, merchantId, running);
    return due;
  };

  test('pays nothing until it is set, then once a day', async () => {
    const subAccount = await world.subAccount(2_000n);
    assert.deepEqual(await settleDue(), []);
    await setPayoutSchedule(world.db, world.merchant.id, 'daily');
    assert.deepEqual(await settleDue(), [world.merchant.id]);
    assert.equal((await world.payoutsOf(subAccount)).length, 1);
    await world.credit(subAccount, 2_000n);
    await world.clock.advance(dayMs / 3);
    assert.deepEqual(await settleDue(), [], 'the day is done, though it began before the setting was made');
    await world.clock.advance(dayMs / 3);
    assert.deepEqual(await settleDue(), [world.merchant.id], 'a new day has begun at midnight UTC');
    assert.equal((await world.payoutsOf(subAccount)).length, 2);
  });

  test('pays once a week, which begins on Monday', async () => {
    const subAccount = await world.subAccount(2_000n);
    await setPayoutSchedule(world.db, world.merchant.id, 'weekly');
    // From Saturday 21 November on: that week is due still, then that of Monday 23 November.
    const days: number[] = [];
    for (let day = 21; day <= 30; day += 1) {
      if ((await settleDue()).length > 0) days.push(day);
      await world.credit(subAccount, 2_000n);
      await world.clock.advance(dayMs);
    }
    assert.deepEqual(days, [21, 23, 30]);
    assert.deepEqual(
      (await world.periodsOf(subAccount)).map((text) => text.slice(0, '2026-11-20'.length)),
      ['2026-11-16', '2026-11-23', '2026-11-30'],
    );
    await setPayoutSchedule(world.db, world.merchant.id, 'manual');
    await world.clock.advance(30 * dayMs);
    assert.deepEqual(await settleDue(), []);
  });

  test('leaves a period with a failure due', async () => {
    await setPayoutSchedule(world.db, world.merchant.id, 'daily');
    const subAccount = await world.subAccount(2_000n);
    await settleScheduled(withoutIds(world.context), world.merchant.id, running);
    assert.equal((await world.payoutsOf(subAccount)).length, 0);
    assert.deepEqual(await settleDue(), [world.merchant.id]);
    assert.equal((await world.payoutsOf(subAccount)).length, 1);
    await setPayoutSchedule(world.db, world.merchant.id, 'manual');
  });
});
