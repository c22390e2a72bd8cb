import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from './create-business.ts';
import { noFee, type FeeRule } from './fees.ts';
import { clearFeeRule, clearLimit, findRules, setFeePayer, setFeeRule, setLimit } from './manage-rules.ts';
import { createMerchantDirectory } from './merchant-directory.ts';
import type { Merchant } from './merchant.ts';
import {
  allNetworks,
  findFeeRule,
  resolveTransferFees,
  resolveTransferLimits,
  type Operation,
  type Rules,
  type StoredFeeRule,
  type StoredLimit,
} from './rules.ts';

const fixed = (fixedMinor: bigint): FeeRule => ({ ...noFee, fixedMinor });

/** Rules with the fixed fee that each line states: `transfer wave 3`. */
function feesOf(...lines: string[]): StoredFeeRule[] {
  return lines.map((line) => {
    const [operation, network = '', amount = ''] = line.split(' ');
    return { operation: operation as Operation, network, ...fixed(BigInt(amount)) };
  });
}

const rulesOf = (fees: StoredFeeRule[], limits: StoredLimit[] = []): Rules => ({ fees, limits });

describe('the fee rule that applies', () => {
  const merchantWave = 'transfer wave 1';
  const merchantAll = 'transfer all 2';
  const defaultWave = 'transfer wave 3';
  const defaultAll = 'transfer all 4';
  const collections = ['collection all 9'];
  for (const [own, defaults, wave, aps] of [
    [[], [], undefined, undefined],
    [collections, collections, undefined, undefined],
    [[], [defaultAll], 4n, 4n],
    [[], [defaultWave], 3n, undefined],
    [[], [defaultAll, defaultWave], 3n, 4n],
    [[merchantAll], [], 2n, 2n],
    [[merchantAll], [defaultAll], 2n, 2n],
    // A merchant's agreed fee applies on every network.
    [[merchantAll], [defaultAll, defaultWave], 2n, 2n],
    [[merchantWave], [], 1n, undefined],
    [[merchantWave], [defaultAll, defaultWave], 1n, 4n],
    [[merchantWave, merchantAll], [defaultAll, defaultWave], 1n, 2n],
    [['transfer all 0'], [defaultAll, defaultWave], 0n, 0n],
  ] as const) {
    test(`of the merchant's [${own.join(', ')}] and the defaults [${defaults.join(', ')}]`, () => {
      const rules = { own: rulesOf(feesOf(...own)), defaults: rulesOf(feesOf(...defaults)) };
      const resolved = resolveTransferFees(rules);
      for (const [network, expected] of [
        ['wave', wave],
        ['aps', aps],
      ] as const) {
        assert.equal(findFeeRule(rules, 'transfer', network)?.rule.fixedMinor, expected);
        assert.deepEqual(resolved.byNetwork.get(network) ?? resolved.otherwise, fixed(expected ?? 0n), network);
      }
    });
  }
});

test('the limit that applies is the merchant’s own, even if that is none, otherwise the default', () => {
  const resolve = (own: StoredLimit[], defaults: StoredLimit[]): unknown =>
    resolveTransferLimits({ own: rulesOf([], own), defaults: rulesOf([], defaults) });
  const daily = (amountMinor: bigint | null): StoredLimit => ({ kind: 'daily', amountMinor });
  const largest = (amountMinor: bigint | null): StoredLimit => ({ kind: 'largest', amountMinor });
  assert.deepEqual(resolve([], []), { largestMinor: null, dailyMinor: null });
  assert.deepEqual(resolve([], [daily(5n), largest(3n)]), { largestMinor: 3n, dailyMinor: 5n });
  assert.deepEqual(resolve([daily(7n)], [daily(5n), largest(3n)]), { largestMinor: 3n, dailyMinor: 7n });
  assert.deepEqual(resolve([daily(null)], [daily(5n)]), { largestMinor: null, dailyMinor: null });
  assert.deepEqual(resolve([largest(0n)], []), { largestMinor: 0n, dailyMinor: null });
});

describe('stored rules', () => {
  let database: TestDatabase;
  let db: Database;
  const clock = new ManualClock();
  const random = seededRandom('rules');
  const context = { clock, random, newId: () => uuidV7(clock, random) };

  before(async () => {
    database = await createTestDatabase();
    db = openTestDatabase(database, { connectionsMax: 2 });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  const newMerchant = async (): Promise<Merchant> =>
    (await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Kairaba Books' }))).test;
  /** As a process with an empty cache reads the merchant. */
  const read = async (id: string): Promise<Merchant> => {
    const found = await createMerchantDirectory(db, clock).byId(id);
    assert.ok(found);
    return found;
  };

  test('a new merchant has no fees and no limits; the business pays', async () => {
    const merchant = await newMerchant();
    assert.deepEqual(await read(merchant.id), merchant);
    assert.deepEqual(merchant.collectionFee, { ...noFee, payer: 'business' });
    assert.deepEqual(merchant.transferFees, { byNetwork: new Map(), otherwise: noFee });
    assert.deepEqual(merchant.transferLimits, { largestMinor: null, dailyMinor: null });
  });

  test('are stored to the butut, replaced as a whole, and belong to one merchant', async () => {
    const [owner, stranger] = [await newMerchant(), await newMerchant()];
    const rule = {
      operation: 'collection',
      network: allNetworks,
      percentHundredths: 10_000n,
      fixedMinor: 9_007_199_254_740_993n,
      minimumMinor: 1n,
      maximumMinor: 9_007_199_254_740_995n,
    } as const;
    await setFeeRule(db, { merchantId: owner.id }, rule);
    const { operation: _operation, network: _network, ...amounts } = rule;
    assert.deepEqual((await read(owner.id)).collectionFee, { ...amounts, payer: 'business' });
    await setFeeRule(db, { merchantId: owner.id }, { ...rule, ...fixed(5n) });
    await setFeePayer(db, owner.id, 'customer');
    assert.deepEqual((await read(owner.id)).collectionFee, { ...fixed(5n), payer: 'customer' });
    assert.deepEqual(await read(stranger.id), stranger);
    assert.equal(await clearFeeRule(db, { merchantId: stranger.id }, rule), false);
    assert.equal(await clearFeeRule(db, { merchantId: owner.id }, rule), true);
    assert.deepEqual((await read(owner.id)).collectionFee, { ...noFee, payer: 'customer' });
  });

  test('of the operator apply to every merchant without its own, also to one created later', async () => {
    const special = await newMerchant();
    const [onWave = assert.fail(), onAll = assert.fail()] = feesOf('transfer wave 3', 'transfer all 4');
    await setFeeRule(db, { merchantId: special.id }, { ...onAll, ...fixed(7n) });
    await setLimit(db, { merchantId: special.id }, { kind: 'daily', amountMinor: null });
    try {
      for (const rule of [onWave, onAll]) await setFeeRule(db, 'default', rule);
      await setLimit(db, 'default', { kind: 'daily', amountMinor: 500_000n });
      const later = await newMerchant();
      assert.deepEqual(await read(later.id), later);
      assert.deepEqual(later.transferFees, { byNetwork: new Map([['wave', fixed(3n)]]), otherwise: fixed(4n) });
      assert.deepEqual(later.transferLimits, { largestMinor: null, dailyMinor: 500_000n });
      const own = await read(special.id);
      assert.deepEqual(own.transferFees, { byNetwork: new Map([['wave', fixed(7n)]]), otherwise: fixed(7n) });
      assert.deepEqual(own.transferLimits, { largestMinor: null, dailyMinor: null });
      const { own: ownRules, defaults } = await findRules(db, { merchantId: special.id });
      assert.deepEqual([ownRules.fees.length, ownRules.limits.length], [1, 1]);
      assert.deepEqual((await findRules(db, 'default')).defaults, defaults);
      assert.deepEqual(defaults.fees.map(({ network }) => network).toSorted(), ['all', 'wave']);
    } finally {
      for (const rule of [onWave, onAll]) assert.ok(await clearFeeRule(db, 'default', rule));
      assert.ok(await clearLimit(db, 'default', 'daily'));
    }
    assert.deepEqual((await findRules(db, 'default')).defaults, { fees: [], limits: [] });
  });

  test('apply in a running process after three seconds, and are read with one statement', async () => {
    const { id } = await newMerchant();
    let statements = 0;
    const directory = createMerchantDirectory(
      {
        ...db,
        row: (statement) => {
          statements += 1;
          return db.row(statement);
        },
      },
      clock,
    );
    const [rule = assert.fail()] = feesOf('transfer all 5');
    const fee = async (): Promise<unknown> => (await directory.byId(id))?.transferFees.otherwise;
    assert.deepEqual(await fee(), noFee);
    await setFeeRule(db, { merchantId: id }, rule);
    assert.deepEqual(await fee(), noFee);
    await clock.advance(3_000);
    assert.deepEqual(await fee(), fixed(5n));
    assert.equal(statements, 2);
  });
});
