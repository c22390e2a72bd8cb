import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { AppError } from '../api/app-error.ts';
import type { Database } from '../kit/db.ts';
import { seededRandom } from '../kit/random.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { TransferLimits } from '../merchants/rules.ts';
import { createTransfer } from './create-transfer.ts';
import { countTransferDay, readTransferDay, subtractFromTransferDay } from './queries.ts';
import { createTransferWorld, newTransfer, type TransferWorld } from './transfer-world.corpus.ts';
import type { Transfer } from './transfer.ts';

const concurrent = 10;
const noon = new Date('2026-11-20T12:00:00.000Z');

let world: TransferWorld;
let db: Database;
const random = seededRandom('limits');

before(async () => {
  world = await createTransferWorld();
  db = world.db;
});
after(() => world.close());

/** A new merchant with a balance of D1,000,000.00; limits in dalasi. */
async function newMerchant(limits: { largest?: number; daily?: number } = {}): Promise<Merchant> {
  return { ...(await world.newMerchant()), transferLimits: limitsOf(limits) };
}

function limitsOf({ largest, daily }: { largest?: number; daily?: number }): TransferLimits {
  const minor = (amount: number | undefined): bigint | null => (amount === undefined ? null : BigInt(amount) * 100n);
  return { largestMinor: minor(largest), dailyMinor: minor(daily) };
}

/** What the merchant requests at `time`. */
const request = (merchant: Merchant, amountMinor: bigint, time = noon): Promise<Transfer> =>
  db.withTransaction((tx) =>
    createTransfer(tx, { ...world.context, clock: new ManualClock(time) }, merchant, { ...newTransfer, amountMinor }),
  );

const dayOf = ({ id: merchantId, currency }: Merchant, createdAt = noon) => ({ merchantId, currency, createdAt });

const counted = (merchant: Merchant, time = noon): Promise<bigint> => readTransferDay(db, dayOf(merchant, time));

/** Checks that the transfer is refused, with this sentence where one is given. */
async function refuses(merchant: Merchant, amountMinor: bigint, message?: string, time = noon): Promise<void> {
  await assert.rejects(request(merchant, amountMinor, time), (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.deepEqual([error.code, error.statusCode], ['limit_exceeded', 400]);
    assert.deepEqual(error.fields, [{ path: 'amount', message: error.message }]);
    if (message !== undefined) assert.equal(error.message, message);
    return true;
  });
}

describe('the largest transfer', () => {
  test('is accepted, a butut more is refused with the limit, and what is refused does not count', async () => {
    const merchant = await newMerchant({ largest: 1_000 });
    await request(merchant, 100_000n);
    await refuses(
      merchant,
      100_001n,
      'Transfers of this merchant are limited to D1,000.00 each. Send a smaller amount.',
    );
    assert.equal(await counted(merchant), 100_000n);
  });

  test('of nothing, like a day’s total of nothing, stops all transfers, and names no amount or day', async () => {
    const message = 'The operator lets no transfers of this merchant out. Ask them for another limit.';
    for (const limit of [{ largest: 0 }, { daily: 0 }]) await refuses(await newMerchant(limit), 1n, message);
  });
});

describe('the day’s total', () => {
  test('is reached to the butut; more is refused with what was requested and what is left', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await request(merchant, 480_000n);
    await refuses(
      merchant,
      20_001n,
      'Transfers of this merchant are limited to D5,000.00 a day; D4,800.00 were requested today, so at most D200.00 are left until midnight UTC.',
    );
    await request(merchant, 20_000n);
    await refuses(
      merchant,
      1n,
      'Transfers of this merchant are limited to D5,000.00 a day; D5,000.00 were requested today, so nothing is left until midnight UTC.',
    );
    assert.equal(await counted(merchant), 500_000n);
  });

  test('limits the first transfer of a day too', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await refuses(
      merchant,
      500_001n,
      'Transfers of this merchant are limited to D5,000.00 a day; D0.00 were requested today, so at most D5,000.00 are left until midnight UTC.',
    );
    await request(merchant, 500_000n);
  });

  test('begins anew at midnight UTC, and is each merchant’s own', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    await request(merchant, 500_000n, new Date('2026-11-20T23:59:59.999Z'));
    await refuses(merchant, 1n, undefined, new Date('2026-11-20T23:59:59.999Z'));
    await request(merchant, 500_000n, new Date('2026-11-21T00:00:00.000Z'));
    await request(await newMerchant({ daily: 5_000 }), 500_000n, new Date('2026-11-21T00:00:00.000Z'));
  });

  test('counts what came before a limit that is set in the middle of a day', async () => {
    const free = await newMerchant();
    await request(free, 300_000n);
    await request(free, 180_000n);
    const limited = { ...free, transferLimits: limitsOf({ daily: 5_000 }) };
    await refuses(limited, 20_001n);
    await request(limited, 20_000n);
    // A process that has not read the limit yet accepts, and counts.
    await request(free, 50_000n);
    await refuses(
      limited,
      1n,
      'Transfers of this merchant are limited to D5,000.00 a day; D5,500.00 were requested today, so nothing is left until midnight UTC.',
    );
  });

  test('no longer counts what was cancelled, on the day of its request', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    const nextDay = new Date('2026-11-21T08:00:00.000Z');
    await request(merchant, 380_000n);
    const cancelled = await request(merchant, 120_000n);
    await request(merchant, 500_000n, nextDay);
    await world.cancel(cancelled, merchant);
    await refuses(merchant, 1n, undefined, nextDay);
    await refuses(merchant, 120_001n);
    await request(merchant, 120_000n);
    assert.deepEqual([await counted(merchant), await counted(merchant, nextDay)], [500_000n, 500_000n]);
  });

  test('refuses to subtract more than was counted, and rolls the transaction back', async () => {
    const merchant = await newMerchant();
    await request(merchant, 100n);
    const subtracted = db.withTransaction(async (tx) =>
      tx.send(subtractFromTransferDay({ ...dayOf(merchant), amountMinor: 101n })),
    );
    await assert.rejects(subtracted, /transfer_days_amount_check/);
    assert.equal(await counted(merchant), 100n);
  });

  test('does not count a transfer whose transaction is rolled back', async () => {
    const merchant = await newMerchant({ daily: 5_000 });
    const undone = db.withTransaction(async (tx) => {
      await createTransfer(tx, { ...world.context, clock: new ManualClock(noon) }, merchant, {
        ...newTransfer,
        amountMinor: 400_000n,
      });
      throw new AppError('insufficient_balance', 'The balance is too small for this amount.');
    });
    await assert.rejects(undone, { code: 'insufficient_balance' });
    await request(merchant, 500_000n);
  });
});

// The statement alone: elsewhere the lock of the balance makes a merchant's transfers wait for each other before it.
describe('concurrent transfers', () => {
  const dailyMinor = 100_000n;

  const count = (merchant: Merchant, amountMinor: bigint): Promise<boolean> =>
    db.withTransaction((tx) => countTransferDay(tx, { ...dayOf(merchant), amountMinor }, dailyMinor));

  /** Opens all connections first, so that the transactions do not run one after another. */
  const countAll = async (merchant: Merchant, amounts: readonly bigint[]): Promise<boolean[]> => {
    const slow = { name: 'test_slow_limit', text: 'SELECT pg_sleep(0.05)', values: [] };
    await Promise.all(Array.from({ length: concurrent }, () => db.rows(slow)));
    return Promise.all(amounts.map((amountMinor) => count(merchant, amountMinor)));
  };

  test('never pass the limit together, and none is refused that fits; 20 rounds of random amounts', async () => {
    for (let round = 0; round < 20; round += 1) {
      const merchant = await newMerchant();
      const amounts = Array.from({ length: 30 }, () =>
        BigInt(1 + (Buffer.from(random.bytes(2)).readUInt16BE() % 15_000)),
      );
      const accepted = await countAll(merchant, amounts);
      const total = amounts.reduce((sum, amount, index) => (accepted[index] ? sum + amount : sum), 0n);
      assert.equal(await counted(merchant), total);
      assert.ok(total <= dailyMinor, `${total} were counted`);
      for (const [index, amount] of amounts.entries()) {
        assert.ok(accepted[index] || total + amount > dailyMinor, `${amount} was refused beside ${total}`);
      }
    }
  });

  test('wait for one whose transaction is rolled back, and then have its room', async () => {
    const merchant = await newMerchant();
    const hasCounted = Promise.withResolvers<void>();
    const canEnd = Promise.withResolvers<void>();
    const rolledBack = db.withTransaction(async (tx) => {
      assert.ok(await countTransferDay(tx, { ...dayOf(merchant), amountMinor: 80_000n }, dailyMinor));
      hasCounted.resolve();
      await canEnd.promise;
      throw new Error('rolled back');
    });
    await hasCounted.promise;
    const waiting = count(merchant, 80_000n);
    await untilAStatementWaits();
    canEnd.resolve();
    await assert.rejects(rolledBack, /rolled back/);
    assert.ok(await waiting);
    assert.equal(await counted(merchant), 80_000n);
  });

  /** Until the database reports a statement that waits for a lock. */
  const untilAStatementWaits = async (): Promise<void> => {
    while ((await countWaiting(db)) === 0);
  };
});
