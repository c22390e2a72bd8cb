import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { effort } from '../../../test/harness/effort.ts';
import {
  AmountError,
  amountToJson,
  formatAmount,
  multiplyPercent,
  parseAmount,
  parsePercent,
  roundUpToWhole,
} from './money.ts';
import { parseStrictJson } from './strict-json.ts';

// D50,000.00 are five million.
const everyButut = effort({ usual: 500_000n, long: 5_000_000n });

function refusal(parse: () => bigint): string {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof AmountError, String(error));
    return error.message;
  }
  assert.fail('was accepted');
}

describe('an amount on the wire', () => {
  test(`every butut from 0.00 to ${formatAmount(everyButut)} comes back as it left`, () => {
    for (let minor = 0n; minor <= everyButut; minor += 1n) {
      if (parseAmount(amountToJson(minor)) !== minor) assert.fail(`${minor} comes back as another amount`);
    }
  });

  test('large amounts and balances below zero come back through JSON text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (minor) => {
        const text = JSON.stringify(amountToJson(minor));
        assert.equal(parseAmount(parseStrictJson(text) as number), minor);
        assert.equal(amountToJson(-minor) + amountToJson(minor), 0);
      }),
      { numRuns: 5_000 },
    );
  });

  test('an amount that a JSON number cannot represent exactly is an assertion failure', () => {
    assert.equal(amountToJson(999_999_999_999_999n), 9_999_999_999_999.99);
    assert.throws(() => amountToJson(1_000_000_000_000_000n), { name: 'AssertionFailure' });
    assert.throws(() => amountToJson(-1_000_000_000_000_000n), { name: 'AssertionFailure' });
  });

  test('it is read from its decimals', () => {
    const amounts: [number, bigint][] = [
      [450, 45_000n],
      [10.5, 1_050n],
      [0.07, 7n],
      [0.1, 10n],
      [1.15, 115n],
      [1e2, 10_000n],
      [0, 0n],
      [4.35, 435n],
      [1_000_000, 100_000_000n],
      [9_007_199_254_740_992, 900_719_925_474_099_200n],
    ];
    for (const [value, minor] of amounts) assert.equal(parseAmount(value), minor, String(value));
  });

  test('an invalid amount is refused with a sentence that says what to do', () => {
    for (const value of [1.005, 0.001, 10.555, 1e-7, 0.1 + 0.2, 450.00000000001]) {
      assert.equal(
        refusal(() => parseAmount(value)),
        'amount has at most two decimals, for example 450 or 10.5.',
      );
    }
    for (const value of [-1, -0.01, -1e-9, -1e30])
      assert.match(
        refusal(() => parseAmount(value)),
        /not be negative/,
      );
    for (const value of [1e21, 1e300])
      assert.match(
        refusal(() => parseAmount(value)),
        /too large/,
      );
    for (const value of [Number.NaN, Infinity, -Infinity])
      assert.match(
        refusal(() => parseAmount(value)),
        /a number/,
      );
    assert.match(
      refusal(() => parseAmount(-1, 'min_amount')),
      /^min_amount /,
    );
  });
});

test('people read D1,250.00, files 1250.00', () => {
  const formats: [bigint, string, string][] = [
    [0n, 'D0.00', '0.00'],
    [5n, 'D0.05', '0.05'],
    [100n, 'D1.00', '1.00'],
    [99_999n, 'D999.99', '999.99'],
    [125_000n, 'D1,250.00', '1250.00'],
    [123_456_789_012n, 'D1,234,567,890.12', '1234567890.12'],
    [-1_050n, '-D10.50', '-10.50'],
    [-1n, '-D0.01', '-0.01'],
  ];
  for (const [minor, page, plain] of formats) {
    assert.equal(formatAmount(minor), page);
    assert.equal(formatAmount(minor, { style: 'plain' }), plain);
  }
});

describe('a percentage', () => {
  test('has two decimals, is above 0 and at most 100', () => {
    const percentages: [number, bigint][] = [
      [100, 10_000n],
      [0.01, 1n],
      [12.5, 1_250n],
      [33.33, 3_333n],
      [99.99, 9_999n],
    ];
    for (const [value, hundredths] of percentages) assert.equal(parsePercent(value), hundredths);
    for (const value of [0, 100.01, 101, 1e20]) {
      assert.match(
        refusal(() => parsePercent(value)),
        /^percentage must be above 0 and at most 100/,
      );
    }
    assert.match(
      refusal(() => parsePercent(0.001)),
      /^percentage has at most two decimals/,
    );
    assert.match(
      refusal(() => parsePercent(-5, 'members.0.percentage')),
      /^members\.0\.percentage must not be negative/,
    );
  });

  test('of an amount is rounded once, half up', () => {
    const parts: [minor: bigint, hundredths: bigint, butut: bigint, whole: bigint][] = [
      [10_000n, 2_000n, 2_000n, 2_000n],
      [0n, 10_000n, 0n, 0n],
      [12_345n, 10_000n, 12_345n, 12_300n],
      [12_350n, 10_000n, 12_350n, 12_400n],
      [50n, 100n, 1n, 0n],
      [49n, 100n, 0n, 0n],
      [14_999n, 100n, 150n, 100n],
      [15_000n, 100n, 150n, 200n],
      [10_000n, 0n, 0n, 0n],
      [33_333n, 3_333n, 11_110n, 11_100n],
    ];
    for (const [minor, hundredths, butut, whole] of parts) {
      assert.equal(multiplyPercent(minor, hundredths, 'half-up'), butut, `${hundredths} of ${minor}`);
      assert.equal(multiplyPercent(minor, hundredths, 'half-up-to-whole'), whole, `${hundredths} of ${minor}`);
    }
  });

  test('never strays further than half a unit from the exact part', () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 0n, max: 10_000n }), (minor, hundredths) => {
        const exact = minor * hundredths;
        const error = multiplyPercent(minor, hundredths, 'half-up') * 10_000n - exact;
        assert.ok(error <= 5_000n && error > -5_000n);
        const wholeError = multiplyPercent(minor, hundredths, 'half-up-to-whole') * 10_000n - exact;
        assert.ok(wholeError <= 500_000n && wholeError > -500_000n);
      }),
    );
  });
});

describe('whole dalasi', () => {
  test('are rounded up, or half up', () => {
    const rounded: [minor: bigint, up: bigint, nearest: bigint][] = [
      [0n, 0n, 0n],
      [1n, 100n, 0n],
      [49n, 100n, 0n],
      [50n, 100n, 100n],
      [99n, 100n, 100n],
      [100n, 100n, 100n],
      [101n, 200n, 100n],
      [149n, 200n, 100n],
      [150n, 200n, 200n],
    ];
    for (const [minor, up, nearest] of rounded) {
      assert.equal(roundUpToWhole(minor), up);
      assert.equal(multiplyPercent(minor, 10_000n, 'half-up-to-whole'), nearest);
    }
  });

  test('of a negative amount are an assertion failure', () => {
    const mistakes = [
      () => roundUpToWhole(-1n),
      () => multiplyPercent(-1n, 100n, 'half-up'),
      () => multiplyPercent(1n, -1n, 'half-up'),
    ];
    for (const mistake of mistakes) assert.throws(mistake, { name: 'AssertionFailure' });
  });
});
