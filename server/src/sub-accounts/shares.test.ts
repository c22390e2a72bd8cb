import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { splitShares } from './shares.ts';
import { checkSplits } from './split-cases.corpus.ts';

test('2,000 random payments split exactly, in whole shares within the base', () => {
  checkSplits(2_000);
});

test('a payment without members is wholly the merchant’s', () => {
  assert.deepEqual(splitShares({ baseMinor: 0n, members: [], path: 'amount' }), { shares: [], merchantMinor: 0n });
});

test('a payment below the minimum shares is refused with the sums', () => {
  const member = (percentHundredths: bigint) => ({ subAccountId: 'any', percentHundredths });
  const refusal = (baseMinor: bigint, ...percents: bigint[]) => {
    try {
      splitShares({ baseMinor, members: percents.map(member), path: 'data.amount' });
      return 'taken';
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'split_exceeds_amount');
      assert.deepEqual(error.fields, [{ path: 'data.amount', message: error.message }]);
      return error.message;
    }
  };
  assert.equal(refusal(99n, 2_000n), 'The share is at least D1.00, but there are only D0.99 to share. Ask for more.');
  assert.equal(
    refusal(199n, 5_000n, 5_000n),
    'The 2 shares are at least D1.00 each, D2.00 together, but there are only D1.99 to share. Ask for more.',
  );
  assert.equal(refusal(200n, 5_000n, 5_000n), 'taken');
});

test('percentages that no group can have fail an assertion', () => {
  const split = (...percents: bigint[]) =>
    splitShares({
      baseMinor: 10_000n,
      members: percents.map((percentHundredths) => ({ subAccountId: 'any', percentHundredths })),
      path: 'amount',
    });
  assert.throws(() => split(0n), /above 0/);
  assert.throws(() => split(6_000n, 4_001n), /at most 100/);
});
