import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feeOf, noFee, transferFee, type FeeRule } from './fees.ts';

type Parts = Partial<Record<'percent' | 'fixed' | 'minimum' | 'maximum', bigint>>;

function ruleOf({ percent = 0n, fixed = 0n, minimum = 0n, maximum }: Parts): FeeRule {
  return { percentHundredths: percent, fixedMinor: fixed, minimumMinor: minimum, maximumMinor: maximum ?? null };
}

/** Computed by hand, in bututs; percentages in hundredths. For collections see payments/fees.test.ts. */
const golden: [Parts, amount: bigint, fee: bigint][] = [
  [{}, 1n, 0n],
  [{}, 100_000_000n, 0n],
  [{ percent: 100n }, 10_000n, 100n],
  // 0.5 bututs is a tie and is rounded up; 0.49 is rounded down.
  [{ percent: 100n }, 50n, 1n],
  [{ percent: 100n }, 49n, 0n],
  [{ percent: 100n }, 150n, 2n],
  [{ percent: 100n }, 149n, 1n],
  [{ percent: 125n }, 40n, 1n],
  [{ percent: 125n }, 39n, 0n],
  [{ percent: 1n }, 4_999n, 0n],
  [{ percent: 1n }, 5_000n, 1n],
  [{ percent: 10_000n }, 12_345n, 12_345n],
  [{ fixed: 250n }, 1n, 250n],
  // Rounded before the fixed part is added, and bounded after it.
  [{ percent: 100n, fixed: 250n }, 50n, 251n],
  [{ percent: 100n, minimum: 500n }, 49_999n, 500n],
  [{ percent: 100n, minimum: 500n }, 50_050n, 501n],
  [{ percent: 100n, fixed: 100n, minimum: 500n }, 40_000n, 500n],
  [{ percent: 100n, fixed: 100n, minimum: 500n }, 40_100n, 501n],
  [{ percent: 100n, maximum: 500n }, 50_049n, 500n],
  [{ percent: 100n, maximum: 500n }, 100_000_000n, 500n],
  [{ percent: 100n, fixed: 450n, maximum: 500n }, 10_000n, 500n],
  [{ percent: 100n, minimum: 500n, maximum: 500n }, 1n, 500n],
  [{ percent: 100n, maximum: 0n }, 10_000n, 0n],
];

test('computed fees equal the examples computed by hand', () => {
  for (const [parts, amountMinor, fee] of golden) {
    assert.equal(feeOf(ruleOf(parts), amountMinor), fee, `${Object.entries(parts).flat().join(' ')} of ${amountMinor}`);
  }
});

test('a transfer costs its network’s fee, and on a network without a rule the general fee', () => {
  const transferFees = {
    byNetwork: new Map([['wave', ruleOf({ fixed: 100n })]]),
    otherwise: ruleOf({ percent: 200n }),
  };
  assert.equal(transferFee({ transferFees }, 'wave', 10_000n), 100n);
  assert.equal(transferFee({ transferFees }, 'aps', 10_000n), 200n);
  // To the butut, also for a whole amount: the fee is not part of the amount that a network gets.
  assert.equal(transferFee({ transferFees }, 'aps', 100n), 2n);
  assert.equal(transferFee({ transferFees: { byNetwork: new Map(), otherwise: noFee } }, 'wave', 10_000n), 0n);
});
