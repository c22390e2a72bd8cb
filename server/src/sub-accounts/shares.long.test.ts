import { test } from 'node:test';
import { checkSplits } from './split-cases.corpus.ts';

test('100,000 random payments split exactly, in whole shares within the base', () => {
  checkSplits(100_000);
});
