import { test } from 'node:test';
import { checkSplits } from './split-cases.corpus.ts';

test('fee, shares and rest are what was paid, shares are whole and within the base, in 100,000 random payments', () => {
  checkSplits(100_000);
});
