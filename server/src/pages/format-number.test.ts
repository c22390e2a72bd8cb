import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber } from './format-number.ts';

test('a number is written as people write it, in the form in which it came', () => {
  const cases: [string, string][] = [
    ['7000001', '700 0001'],
    ['+2207000001', '700 0001'],
    ['00220 87 700 0001', '87 700 0001'],
    ['2201234', '220 1234'],
    ['+33612345678', '+33612345678'],
    [' 12 ', '12'],
  ];
  for (const [given, expected] of cases) assert.equal(formatNumber(given), expected);
});
