import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import type { TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { AppError } from '../kit/app-error.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferLimits } from '../merchants/rules.ts';
import { checkLargest, countForDay, uncountTransfer } from './limits.ts';
import { readTransferDay } from './queries.ts';

const connectionsMax = 10;
const noon = new Date('2026-11-20T12:00:00.000Z');

let database: TestDatabase;
let db: Database;
const clock = new ManualClock(noon);
const random = seededRandom('limits');

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database, { connectionsMax });
});
after(async () => {
  await db.close();
  await database.drop();
});

/** A new merchant; limits in dalasi. */
async function newMerchant(limits: { largest?: number; daily?: number } = {}): Promise<Merchant> {
  const context = { clock, random, newId: () => uuidV7(clock, random) };
  const { test: merchant } = await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Kairaba Books' }));
  return { ...merchant, transferLimits: limitsOf(limits) };
}

function limitsOf({ largest, daily }: { largest?: number; daily?: number }): TransferLimits {
  const minor = (amount: number | undefined): bigint | null => (amount === undefined ? null : BigInt(amount) * 100n);
  return { largestMinor: minor(largest), dailyMinor: minor(daily) };
}

const order = (merchant: Merchant, amountMinor: bigint, at = noon): Promise<void> =>
  db.withTransaction((tx) => {
    checkLargest(merchant, amountMinor);
    return countForDay(tx, merchant, { amountMinor, at });
  });

const returnMoney = (merchant: Merchant, amountMinor: bigint, createdAt = noon): Promise<void> =>
  db.withTransaction(async (tx) =>
    uncountTransfer(tx, {
      kind: 'transfer',
      merchantId: merchant.id,
      currency: merchant.currency,
      amountMinor,
      createdAt,
    }),
  );

const counted = (merchant: Merchant, day = '2026-11-20'): Promise<bigint> =>
  readTransferDay(db, { merchantId: merchant.id, currency: merchant.currency, day });

/** Whether the order is refused, with this sentence where one is given. */
async function refuses(merchant: Merchant, amountMinor: bigint, message?: string, at = noon): Promise<void> {
  await assert.rejects(order(merchant, amountMinor, at), (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.deepEqual([error.code, error.statusCode], ['limit_exceeded', 400]);
    assert.deepEqual(error.fields, [{ path: 'amount', message: error.message }]);
    if (message !== undefined) assert.equal(error.message, message);
    return true;
  });
}

describe('the largest transfer', () => {
  test('goes through, and a butut more is refused with the figure; refused orders do not count', async () => {
    const merchant = await newMerchant({ largest: 1_000 });
    await order(merchant, 100_000n);
    await refuses(
      merchant,
      100_001n,
      'Transfers of this merchant are limited to D1,000.00 each. Send a smaller amount.',
    );
    assert.equal(await counted(merchant), 100_000n);
  });

  test('of nothing stops all transfers', async () => {
    await refuses(await newMerchant({ largest: 0 }), 1n);
  });
});

describe('the day’s total', () => {
  test('is reached to the butut; what goes beyond is refused with what was ordered and what is left', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await order(merchant, 480_000n);
    await refuses(
      merchant,
      20_001n,
      'Transfers of this merchant are limited to D5,000.00 a day; D4,800.00 were ordered today, so at most D200.00 are left until midnight UTC.',
    );
    await order(merchant, 20_000n);
    await refuses(
      merchant,
      1n,
      'Transfers of this merchant are limited to D5,000.00 a day; D5,000.00 were ordered today, so nothing is left until midnight UTC.',
    );
    assert.equal(await counted(merchant), 500_000n);
  });

  test('holds for the first order of a day too', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await refuses(
      merchant,
      500_001n,
      'Transfers of this merchant are limited to D5,000.00 a day; D0.00 were ordered today, so at most D5,000.00 are left until midnight UTC.',
    );
    await order(merchant, 500_000n);
  });

  test('begins anew at midnight UTC, and is each merchant’s own', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await order(merchant, 500_000n, new Date('2026-11-20T23:59:59.999Z'));
    await refuses(merchant, 1n, undefined, new Date('2026-11-20T23:59:59.999Z'));
    await order(merchant, 500_000n, new Date('2026-11-21T00:00:00.000Z'));
    await order(await newMerchant({ daily: 5_000 }), 500_000n, new Date('2026-11-21T00:00:00.000Z'));
  });

  test('of a limit that is introduced in the middle of a day knows what went before', async () => {
    const free = await newMerchant();
    await order(free, 300_000n);
    await order(free, 180_000n);
    const limited = { ...free, transferLimits: limitsOf({ daily: 5_000 }) };
    await refuses(limited, 20_001n);
    await order(limited, 20_000n);
    // A process that has not heard of the limit yet lets through, and counts.
    await order(free, 50_000n);
    await refuses(
      limited,
      1n,
      'Transfers of this merchant are limited to D5,000.00 a day; D5,500.00 were ordered today, so nothing is left until midnight UTC.',
    );
  });

  test('has what failed or was cancelled back, on the day on which it was ordered', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    const nextDay = new Date('2026-11-21T08:00:00.000Z');
    await order(merchant, 500_000n);
    await order(merchant, 500_000n, nextDay);
    await returnMoney(merchant, 120_000n);
    await refuses(merchant, 1n, undefined, nextDay);
    await refuses(merchant, 120_001n);
    await order(merchant, 120_000n);
    assert.deepEqual([await counted(merchant), await counted(merchant, '2026-11-21')], [500_000n, 500_000n]);
  });

  test('never has more back than was counted: that is a mistake of ours, and undoes what came with it', async () => {
    const merchant = await newMerchant();
    await order(merchant, 100n);
    await assert.rejects(returnMoney(merchant, 101n), /transfer_days_amount_check/);
    assert.equal(await counted(merchant), 100n);
  });

  test('does not count an order that is undone', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    const undone = db.withTransaction(async (tx) => {
      await countForDay(tx, merchant, { amountMinor: 400_000n, at: noon });
      throw new AppError('insufficient_balance', 'The balance is too small for this amount.');
    });
    await assert.rejects(undone, { code: 'insufficient_balance' });
    await order(merchant, 500_000n);
  });
});

describe('orders at the same moment', () => {
  /** Opens all connections first, so that the orders do not come one after another. */
  const atOnce = async (merchant: Merchant, amounts: readonly bigint[]): Promise<boolean[]> => {
    const slow = { name: 'test_slow', text: 'SELECT pg_sleep(0.05)', values: [] };
    await Promise.all(Array.from({ length: connectionsMax }, () => db.rows(slow)));
    const outcomes = await Promise.allSettled(amounts.map((amount) => order(merchant, amount)));
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as AppError).code, 'limit_exceeded');
    }
    return outcomes.map(({ status }) => status === 'fulfilled');
  };

  test('never pass the limit together, and none is refused that had room; 20 rounds of random sums', async () => {
    for (let round = 0; round < 20; round += 1) {
      const merchant = await newMerchant({ daily: 1_000 });
      const amounts = Array.from({ length: 30 }, () =>
        BigInt(1 + (Buffer.from(random.bytes(2)).readUInt16BE() % 15_000)),
      );
      const passed = await atOnce(merchant, amounts);
      const total = amounts.reduce((sum, amount, place) => (passed[place] ? sum + amount : sum), 0n);
      assert.equal(await counted(merchant), total);
      assert.ok(total <= 100_000n, `${total} were ordered`);
      for (const [place, amount] of amounts.entries()) {
        assert.ok(passed[place] || total + amount > 100_000n, `${amount} was refused beside ${total}`);
      }
    }
  });

  test('an order that waits for one that is undone then has its room', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    const hasCounted = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const undone = db.withTransaction(async (tx) => {
      await countForDay(tx, merchant, { amountMinor: 400_000n, at: noon });
      hasCounted.resolve();
      await mayEnd.promise;
      throw new Error('undone');
    });
    await hasCounted.promise;
    const waiting = order(merchant, 400_000n);
    await untilSomebodyWaits();
    mayEnd.resolve();
    await assert.rejects(undone, /undone/);
    await waiting;
    assert.equal(await counted(merchant), 400_000n);
  });

  /** Until the database says that a statement waits for a lock. */
  const untilSomebodyWaits = async (): Promise<void> => {
    for (;;) {
      const row = await db.row<{ waiting: bigint }>({
        name: 'test_waiting',
        text: `SELECT count(*) AS waiting FROM pg_stat_activity
               WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        values: [],
      });
      if ((row?.waiting ?? 0n) > 0n) return;
    }
  };
});
