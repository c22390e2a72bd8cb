import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AppError } from '../api/app-error.ts';
import { dalasi } from '../kit/money.ts';
import {
  exactShare,
  roundedShare,
  shareBase,
  splitShares,
  type Share,
  type Split,
  type SplitMember,
} from './shares.ts';

/** A random payment with a split; half of them are small, where rounding and minimum matter most. */
interface SplitCase {
  amountMinor: bigint;
  feeMinor: bigint;
  feePayer: 'business' | 'customer';
  percents: bigint[];
}

const amounts = fc.oneof(
  fc.bigInt(1n, 5_000n),
  fc.bigInt(1n, 50n).map((whole) => whole * dalasi),
  fc.bigInt(100n, 100_000_000n),
);

/** Percentages that sum to at most 100, some of them equal, many close to the sum of 100. */
const percentages = fc
  .record({
    weights: fc.array(fc.oneof(fc.constant(1n), fc.constant(100n), fc.bigInt(1n, 10_000n)), {
      minLength: 1,
      maxLength: 20,
    }),
    sum: fc.oneof(fc.constant(10_000n), fc.bigInt(20n, 10_000n)),
  })
  .map(({ weights, sum }) => {
    const all = weights.reduce((total, weight) => total + weight, 0n);
    return weights.map((weight) => 1n + (weight * (sum - BigInt(weights.length))) / all);
  });

const splitCases: fc.Arbitrary<SplitCase> = fc
  .record({
    amountMinor: amounts,
    feeParts: fc.oneof(fc.constant(0n), fc.bigInt(0n, 500n), fc.bigInt(0n, 10_000n)),
    feePayer: fc.constantFrom('business' as const, 'customer' as const),
    percents: percentages,
  })
  .map(({ feeParts, ...rest }) => ({ ...rest, feeMinor: (rest.amountMinor * feeParts) / 10_000n }));

/** Checks the invariants of a split on random payments. */
export function checkSplits(runs: number): void {
  fc.assert(fc.property(splitCases, checkSplit), { numRuns: runs });
}

function checkSplit(payment: SplitCase): void {
  const baseMinor = shareBase(payment);
  const members = payment.percents.map((percentHundredths, index) => ({
    subAccountId: String(index),
    percentHundredths,
  }));
  const split = splitOrNull(baseMinor, members);
  const isTooSmall = dalasi * BigInt(members.length) > baseMinor;
  assert.equal(split === null, isTooSmall, 'refused exactly when the base is below the minimums');
  if (split === null) return;
  checkSums(payment, baseMinor, split);
  checkFit(baseMinor, split.shares);
  checkOrder(split.shares);
  checkOtherOrder(baseMinor, members, split);
}

function splitOrNull(baseMinor: bigint, members: readonly SplitMember[]): Split | null {
  try {
    return splitShares({ baseMinor, members, path: 'data.amount' });
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'split_exceeds_amount', String(error));
    return null;
  }
}

function checkSums(payment: SplitCase, baseMinor: bigint, { shares, merchantMinor }: Split): void {
  const { amountMinor, feeMinor, feePayer, percents } = payment;
  const paidMinor = feePayer === 'customer' ? amountMinor + feeMinor : amountMinor;
  const sharedMinor = sumOf(shares);
  assert.equal(feeMinor + sharedMinor + merchantMinor, paidMinor, 'fee, shares and rest are what was paid');
  assert.ok(merchantMinor >= 0n && sharedMinor <= baseMinor, 'the shares come out of the base');
  assert.deepEqual(
    shares.map(({ percentHundredths }) => percentHundredths),
    percents,
  );
  for (const { amountMinor: share } of shares) {
    assert.ok(share >= dalasi && share % dalasi === 0n, 'a share is whole dalasi, at least one');
  }
}

/** Shares are reduced only as far as needed, and the ones furthest above their exact amount first. */
function checkFit(baseMinor: bigint, shares: readonly Share[]): void {
  const measured = shares.map(({ amountMinor, percentHundredths }) => ({
    amountMinor,
    reductionMinor: roundedShare(baseMinor, percentHundredths) - amountMinor,
    above: amountMinor * 10_000n - exactShare(baseMinor, percentHundredths),
  }));
  const reducedShares = measured.filter(({ reductionMinor }) => reductionMinor !== 0n);
  if (reducedShares.length === 0) return;
  assert.ok(
    reducedShares.every(({ reductionMinor }) => reductionMinor > 0n),
    'nothing is ever added to a rounded share',
  );
  assert.ok(baseMinor - sumOf(shares) < dalasi, 'shares are reduced by no more than they exceed the base');
  for (const reduced of reducedShares) {
    const before = reduced.above + dalasi * 10_000n;
    const isFair = measured.every(({ amountMinor, above }) => amountMinor === dalasi || above <= before);
    assert.ok(isFair, 'a reduced share was at least as far above its exact amount as any other above the minimum');
  }
}

/** A larger percentage never gets less, and of equal ones an earlier member never less than a later one. */
function checkOrder(shares: readonly Share[]): void {
  const sorted = shares.toSorted((one, other) => Number(other.percentHundredths - one.percentHundredths));
  for (const [index, share] of sorted.entries()) {
    const next = sorted[index + 1];
    assert.ok(next === undefined || share.amountMinor >= next.amountMinor, 'a larger percentage gets no less');
  }
}

/** The merchant's rest never depends on the members' order, and no share does unless one was reduced. */
function checkOtherOrder(baseMinor: bigint, members: readonly SplitMember[], split: Split): void {
  const other = splitOrNull(baseMinor, members.toReversed());
  assert.equal(other?.merchantMinor, split.merchantMinor);
  const rounded = members.map(({ percentHundredths }) => roundedShare(baseMinor, percentHundredths));
  if (rounded.reduce((total, amount) => total + amount, 0n) > baseMinor) return;
  assert.deepEqual(other?.shares, split.shares.toReversed());
}

function sumOf(shares: readonly Share[]): bigint {
  return shares.reduce((total, { amountMinor }) => total + amountMinor, 0n);
}
