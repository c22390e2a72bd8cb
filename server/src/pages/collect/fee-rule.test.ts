import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderHtml } from '../../kit/html.ts';
import { english } from '../../languages/languages.ts';
import { noFee, type CollectionFee } from '../../merchants/fees.ts';
import { feeRuleLine } from './fee-rule.ts';

const lines: [string, Partial<CollectionFee>][] = [
  ['A fee of 2 % is added, rounded up to whole dalasi.', { percentHundredths: 200n }],
  ['A fee of 1.25 % and D5.00 is added, rounded up to whole dalasi.', { percentHundredths: 125n, fixedMinor: 500n }],
  ['A fee of D5.00 is added.', { fixedMinor: 500n }],
  ['A fee of D5.50 is added, rounded up to whole dalasi.', { fixedMinor: 550n }],
  ['A fee of D10.00 is added.', { minimumMinor: 1_000n }],
  ['A fee of D3.00 is added.', { fixedMinor: 500n, maximumMinor: 300n }],
  ['The fee is at most D2.50.', { fixedMinor: 500n, maximumMinor: 250n }],
  ['The fee is at most D2.50.', { fixedMinor: 220n, maximumMinor: 250n }],
  ['A fee of D1.50 is added, rounded up to whole dalasi.', { fixedMinor: 150n, maximumMinor: 250n }],
  [
    'A fee of 2 % is added, rounded up to whole dalasi. The fee is at least D1.00. The fee is at most D50.00.',
    { percentHundredths: 200n, minimumMinor: 100n, maximumMinor: 5_000n },
  ],
  ['', {}],
  ['', { payer: 'business', percentHundredths: 200n }],
  ['', { percentHundredths: 200n, maximumMinor: 0n }],
];
for (const [line, rule] of lines) {
  test(`the page says “${line.slice(0, 70)}” before the amount is known`, () => {
    const shown = renderHtml(feeRuleLine(english.t, { ...noFee, payer: 'customer', ...rule }));
    assert.equal(shown.replaceAll(/<[^>]*>/g, ''), line);
  });
}
