import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAmount } from './read-amount.ts';

const understood: [string, bigint][] = [
  ['450', 45_000n],
  [' 450 ', 45_000n],
  ['450.5', 45_050n],
  ['450,5', 45_050n],
  ['450,50', 45_050n],
  ['0.01', 1n],
  ['1,250', 125_000n],
  ['1 250', 125_000n],
  ['1,250,000.75', 125_000_075n],
  ['D450', 45_000n],
  ['D 1,250.00', 125_000n],
  ['gmd 20', 2_000n],
  ['20 GMD', 2_000n],
  ['007', 700n],
  ['٤٥٠', 45_000n],
  ['D ١٬٢٥٠٫٥', 125_050n],
  ['۴۵۰', 45_000n],
  ['４５０.5', 45_050n],
  ['߄߅߀', 45_000n],
  ['\u2067٤٥٠\u2069', 45_000n],
  ['1\u202f250', 125_000n],
];
for (const [text, minor] of understood) {
  test(`“${text}” is ${minor} bututs`, () => {
    assert.deepEqual(readAmount(text), { amountMinor: minor });
  });
}

const refused = [
  '',
  '  ',
  '0',
  '0.00',
  '-5',
  '+5',
  '1.005',
  '4,50,0',
  '1,25,000',
  '1e3',
  'ten',
  '450 450',
  '12345678901234',
  '1.',
  '.5',
];
for (const text of refused) {
  test(`“${text}” is no amount, and is not guessed at`, () => {
    assert.ok('problem' in readAmount(text));
  });
}
