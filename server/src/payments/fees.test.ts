import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../api/app-error.ts';
import { collectionFee, type CollectionFee, type FeePayer } from '../merchants/fees.ts';
import { clearFeeRule, setFeeRule } from '../merchants/manage-rules.ts';
import { allNetworks } from '../merchants/rules.ts';
import { applyResponse } from './apply-response.ts';
import { partsOf } from './charge.ts';
import { checkAmount } from './create-payment.ts';
import { totalMinor } from './intent.ts';
import { createPaymentWorld, succeeded, type PaymentWorld } from './payment-world.corpus.ts';

let world: PaymentWorld;

before(async () => {
  world = await createPaymentWorld();
});

after(() => world.close());

interface Rule {
  percent?: bigint;
  fixed?: bigint;
  minimum?: bigint;
  maximum?: bigint;
}

function ruleOf(payer: FeePayer, { percent = 0n, fixed = 0n, minimum = 0n, maximum }: Rule): CollectionFee {
  return {
    percentHundredths: percent,
    fixedMinor: fixed,
    minimumMinor: minimum,
    maximumMinor: maximum ?? null,
    payer,
  };
}

/** Calculated by hand, in bututs; percentages in hundredths. */
const golden: [FeePayer, Rule, amount: bigint, fee: bigint, paid: bigint, merchant: bigint][] = [
  // The business pays: to the butut, halves up.
  ['business', {}, 10_000n, 0n, 10_000n, 10_000n],
  ['business', { percent: 200n }, 10_000n, 200n, 10_000n, 9_800n],
  ['business', { percent: 150n }, 10_000n, 150n, 10_000n, 9_850n],
  ['business', { percent: 150n }, 333n, 5n, 333n, 328n],
  ['business', { percent: 150n }, 330n, 5n, 330n, 325n],
  ['business', { percent: 150n }, 300n, 5n, 300n, 295n],
  ['business', { percent: 150n }, 299n, 4n, 299n, 295n],
  ['business', { percent: 150n }, 100n, 2n, 100n, 98n],
  ['business', { percent: 250n }, 100n, 3n, 100n, 97n],
  ['business', { percent: 249n }, 100n, 2n, 100n, 98n],
  ['business', { percent: 1n }, 5_000n, 1n, 5_000n, 4_999n],
  ['business', { percent: 1n }, 4_999n, 0n, 4_999n, 4_999n],
  ['business', { percent: 1n }, 14_999n, 1n, 14_999n, 14_998n],
  ['business', { percent: 1n }, 15_000n, 2n, 15_000n, 14_998n],
  ['business', { percent: 3_333n }, 100n, 33n, 100n, 67n],
  ['business', { percent: 3_333n }, 10_000n, 3_333n, 10_000n, 6_667n],
  ['business', { percent: 1_234n }, 56_789n, 7_008n, 56_789n, 49_781n],
  ['business', { percent: 10_000n }, 12_345n, 12_345n, 12_345n, 0n],
  ['business', { percent: 250n }, 100_000_000n, 2_500_000n, 100_000_000n, 97_500_000n],
  ['business', { percent: 333n }, 99_999_999n, 3_330_000n, 99_999_999n, 96_669_999n],
  // Fixed parts and bounds.
  ['business', { fixed: 500n }, 10_000n, 500n, 10_000n, 9_500n],
  ['business', { fixed: 1n }, 100n, 1n, 100n, 99n],
  ['business', { percent: 100n, fixed: 100n }, 10_050n, 201n, 10_050n, 9_849n],
  ['business', { percent: 100n, fixed: 100n }, 10_049n, 200n, 10_049n, 9_849n],
  ['business', { percent: 100n, minimum: 300n }, 10_000n, 300n, 10_000n, 9_700n],
  ['business', { percent: 100n, minimum: 300n }, 30_000n, 300n, 30_000n, 29_700n],
  ['business', { percent: 100n, minimum: 300n }, 30_050n, 301n, 30_050n, 29_749n],
  ['business', { percent: 100n, maximum: 5_000n }, 500_000n, 5_000n, 500_000n, 495_000n],
  ['business', { percent: 100n, maximum: 5_000n }, 1_000_000n, 5_000n, 1_000_000n, 995_000n],
  ['business', { percent: 100n, maximum: 5_000n }, 499_949n, 4_999n, 499_949n, 494_950n],
  ['business', { percent: 100n, fixed: 50n, minimum: 60n, maximum: 70n }, 100n, 60n, 100n, 40n],
  ['business', { percent: 100n, fixed: 50n, minimum: 60n, maximum: 70n }, 1_500n, 65n, 1_500n, 1_435n],
  ['business', { percent: 100n, fixed: 50n, minimum: 60n, maximum: 70n }, 9_900n, 70n, 9_900n, 9_830n],
  ['business', { percent: 900n, minimum: 250n, maximum: 250n }, 10_000n, 250n, 10_000n, 9_750n],
  ['business', { percent: 900n, maximum: 0n }, 10_000n, 0n, 10_000n, 10_000n],
  ['business', { minimum: 100n }, 100n, 100n, 100n, 0n],
  // The customer pays on top: up to a whole dalasi where the amount is whole, to the butut where it is not.
  ['customer', {}, 10_000n, 0n, 10_000n, 10_000n],
  ['customer', { percent: 200n }, 10_000n, 200n, 10_200n, 10_000n],
  ['customer', { percent: 150n }, 10_000n, 200n, 10_200n, 10_000n],
  ['customer', { percent: 101n }, 10_000n, 200n, 10_200n, 10_000n],
  ['customer', { percent: 100n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { percent: 1n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { percent: 1n }, 4_900n, 0n, 4_900n, 4_900n],
  ['customer', { percent: 1n }, 5_000n, 100n, 5_100n, 5_000n],
  ['customer', { percent: 150n }, 10_050n, 151n, 10_201n, 10_050n],
  ['customer', { percent: 150n }, 10_001n, 150n, 10_151n, 10_001n],
  ['customer', { fixed: 50n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { fixed: 50n }, 10_001n, 50n, 10_051n, 10_001n],
  ['customer', { fixed: 100n, percent: 100n }, 10_000n, 200n, 10_200n, 10_000n],
  ['customer', { minimum: 150n }, 100n, 200n, 300n, 100n],
  ['customer', { minimum: 150n }, 101n, 150n, 251n, 101n],
  ['customer', { percent: 500n, maximum: 300n }, 10_000n, 300n, 10_300n, 10_000n],
  // Whole dalasi within the maximum: a payment of D101.50 could not be made, and D102.00 is more than was promised.
  ['customer', { percent: 500n, maximum: 150n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { percent: 120n, maximum: 150n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { percent: 500n, maximum: 150n }, 10_050n, 150n, 10_200n, 10_050n],
  ['customer', { percent: 500n, maximum: 99n }, 10_000n, 0n, 10_000n, 10_000n],
  ['customer', { minimum: 150n, maximum: 150n }, 10_000n, 100n, 10_100n, 10_000n],
  ['customer', { percent: 10_000n }, 10_000n, 10_000n, 20_000n, 10_000n],
];

test('fee, total and merchant’s part of each rule match the amounts calculated by hand', () => {
  for (const [payer, rule, amountMinor, fee, paid, merchant] of golden) {
    const row = `${payer} ${Object.entries(rule).flat().join(' ')} of ${amountMinor}`;
    const feeMinor = collectionFee(ruleOf(payer, rule), amountMinor);
    assert.equal(feeMinor, fee, row);
    const amountPaidMinor = totalMinor({ amountMinor, feeMinor, feePayer: payer });
    assert.equal(amountPaidMinor, paid, row);
    assert.equal(partsOf({ feeMinor }, [], amountPaidMinor).merchantMinor, merchant, row);
  }
});

const anyRule = fc
  .record({
    percent: fc.bigInt({ min: 0n, max: 10_000n }),
    fixed: fc.bigInt({ min: 0n, max: 10_000n }),
    minimum: fc.bigInt({ min: 0n, max: 5_000n }),
    above: fc.option(fc.bigInt({ min: 0n, max: 100_000n })),
    payer: fc.constantFrom<FeePayer>('business', 'customer'),
  })
  .map(({ payer, above, ...rule }) =>
    ruleOf(payer, { ...rule, ...(above === null ? {} : { maximum: rule.minimum + above }) }),
  );
const anyAmount = fc.oneof(
  fc.bigInt({ min: 1n, max: 100_000_000n }),
  fc.bigInt({ min: 1n, max: 1_000_000n }).map((whole) => whole * 100n),
);

test('in 2,000 random cases fee and merchant’s part add up to the amount paid, and none is negative', () => {
  fc.assert(
    fc.property(anyRule, anyAmount, (rule, amountMinor) => {
      const merchant = { ...world.merchant, collectionFee: rule };
      let checked;
      try {
        checked = checkAmount(world.context, merchant, { amountMinor, currency: null });
      } catch (error) {
        // A fee that eats more than the amount is refused, and only that.
        assert.ok(error instanceof AppError && error.code === 'amount_out_of_bounds');
        assert.equal(rule.payer, 'business');
        return;
      }
      const { feeMinor } = checked;
      const amountPaidMinor = totalMinor(checked);
      const rest = partsOf({ feeMinor }, [], amountPaidMinor).merchantMinor;
      assert.equal(feeMinor + rest, amountPaidMinor);
      assert.ok(feeMinor >= 0n && rest >= 0n);
      if (rule.payer === 'customer') assert.equal(rest, amountMinor);
      else assert.equal(amountPaidMinor, amountMinor);
    }),
    { numRuns: 2_000 },
  );
});

test('a percentage fee is rounded to the nearest butut, and a tie up', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10_000n }), anyAmount, (percent, amountMinor) => {
      const fee = collectionFee(ruleOf('business', { percent }), amountMinor);
      const distance = fee * 10_000n - amountMinor * percent;
      assert.ok(distance > -5_000n && distance <= 5_000n, String(distance));
    }),
    { numRuns: 2_000 },
  );
});

test('on whole amounts the customer’s total is whole, and the fee never more than the maximum', () => {
  fc.assert(
    fc.property(anyRule, fc.bigInt({ min: 1n, max: 1_000_000n }), (rule, whole) => {
      const amountMinor = whole * 100n;
      const feeMinor = collectionFee({ ...rule, payer: 'customer' }, amountMinor);
      assert.equal(totalMinor({ amountMinor, feeMinor, feePayer: 'customer' }) % 100n, 0n);
      assert.ok(rule.maximumMinor === null || feeMinor <= rule.maximumMinor);
    }),
    { numRuns: 500 },
  );
});

const rules: [name: string, CollectionFee, amount: bigint][] = [
  ['no fee', ruleOf('business', {}), 10_000n],
  ['a percentage of the business', ruleOf('business', { percent: 275n }), 12_345n],
  ['percent and fixed of the business', ruleOf('business', { percent: 150n, fixed: 25n, maximum: 400n }), 99_999n],
  ['a percentage of the customer', ruleOf('customer', { percent: 275n }), 12_300n],
  ['percent and minimum of the customer', ruleOf('customer', { percent: 10n, minimum: 30n }), 12_345n],
];
for (const [name, rule, amountMinor] of rules) {
  test(`the preview equals what the creation fixes and the ledger books: ${name}`, async () => {
    const owner = await world.setFee(rule);
    const preview = await world.preview({ amountMinor }, owner);
    const { intent, charge } = await world.create({ amountMinor }, owner);
    const formatDalasi = (minor: bigint): number => Number(minor) / 100;
    assert.deepEqual(preview, {
      amount: formatDalasi(intent.amountMinor),
      amount_paid: formatDalasi(charge.amountPaidMinor),
      transaction_fee: formatDalasi(intent.feeMinor),
      transaction_fee_type: intent.feePayer,
      shares: [],
      merchant_receives: formatDalasi(partsOf(charge, [], charge.amountPaidMinor).merchantMinor),
      currency: 'GMD',
    });
    const before = [await world.balance('fees'), await world.balance('payable_available')];
    await applyResponse(world.context, charge, succeeded(charge));
    const after = [await world.balance('fees'), await world.balance('payable_available')];
    assert.deepEqual(
      after.map((balance, index) => formatDalasi(balance - (before[index] ?? 0n))),
      [preview['transaction_fee'], preview['merchant_receives']],
    );
    await world.verify();
  });
}

test('a fee larger than the amount is refused before anything is stored', async () => {
  const owner = { ...world.merchant, collectionFee: ruleOf('business', { minimum: 101n }) };
  await assert.rejects(
    world.create({ amountMinor: 100n }, owner),
    (error) => error instanceof AppError && error.fields?.[0]?.path === 'data.amount',
  );
});

test('a changed fee rule leaves the payments created before as they are', async () => {
  const owner = await world.setFee(ruleOf('business', { percent: 100n }));
  const { charge } = await world.create({}, owner);
  await world.setFee(ruleOf('customer', { percent: 900n }));
  await world.clock.advance(3_000);
  await applyResponse(world.context, charge, succeeded(charge));
  const unchanged = await world.charge(charge);
  assert.deepEqual([unchanged.feeMinor, unchanged.feePayer, unchanged.amountPaidMinor], [100n, 'business', 10_000n]);
  assert.deepEqual(await world.movements(charge), [
    'collected float:rail-wave → fees 100',
    'collected float:rail-wave → payable_available 9900',
  ]);
});

test('preview and creation use the default rule, then the merchant’s own rule within three seconds', async () => {
  const { id } = await world.newMerchant();
  const byDefault = {
    ...ruleOf('business', { percent: 200n }),
    operation: 'collection',
    network: allNetworks,
  } as const;
  const own = { ...ruleOf('business', { fixed: 50n }), operation: 'collection', network: allNetworks } as const;
  const fees = async (): Promise<unknown[]> => {
    const owner = await world.context.merchants.byId(id);
    assert.ok(owner);
    const preview = await world.preview({ amountMinor: 10_000n }, owner);
    const { intent } = await world.create({}, owner);
    return [preview['transaction_fee'], intent.feeMinor];
  };
  assert.deepEqual(await fees(), [0, 0n]);
  await setFeeRule(world.db, 'default', byDefault);
  assert.deepEqual(await fees(), [0, 0n], 'a process may be three seconds behind');
  await world.clock.advance(3_000);
  assert.deepEqual(await fees(), [2, 200n]);
  await setFeeRule(world.db, { merchantId: id }, own);
  await world.clock.advance(3_000);
  assert.deepEqual(await fees(), [0.5, 50n]);
  await clearFeeRule(world.db, 'default', byDefault);
});
